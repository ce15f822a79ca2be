import { hexlify, ZeroAddress } from 'ethers';
import { startWeb } from '../../../src/app/web';
import { startWorker } from '../../../src/app/worker';
import { domainSeparator, orderStructHash, typedDigest } from '../../../src/auth/order-hash';
import { createBlocks } from '../../../src/chain/blocks';
import type { ChainCheck } from '../../../src/chain/examine-nodes';
import { withoutKeys } from '../../../src/config/chain';
import { loadConfig } from '../../../src/config/load';
import {
  contradiction,
  type ExamineOptions,
  examineChain,
} from '../../../src/extensions/chain/contracts/examine';
import { createLogger } from '../../../src/log';
import { createShell } from '../../cli/shell';
import { type DurableRedis, startDurableRedis } from '../../support/durable-redis';
import { startTestRedis } from '../../support/redis';
import { ENVIRONMENT } from '../../support/settings';
import { compileHostile, MODES } from './hostile-collateral';
import { type Nodes, startNodes } from './nodes';
import type { ChainProxy } from './proxy';
import { collateralAbi, exchangeAbi, newTrader, ONE, startWorld, type World } from './world';

let world: World;
let nodes: Nodes;
let right: ExamineOptions;

beforeAll(async () => {
  world = await startWorld({ slotsInAnEpoch: 1 });
  nodes = await startNodes(3, world.anvil);
  for (const holder of [world.ctf, world.exchange])
    await world.chain.send(
      world.deployer,
      world.collateral,
      collateralAbi.encodeFunctionData('mint', [holder, ONE]),
    );
  await nodes.ask('anvil_mine', '0x4');
});
beforeEach(async () => {
  const order = world.sign(newTrader(), {
    tokenId: 5n,
    makerAmount: ONE,
    takerAmount: 2n * ONE,
    expiration: 9n,
  });
  const separator = domainSeparator(world.domain);
  const rpc = nodes.client();
  const blocks = createBlocks(rpc, { kind: 'tag' });
  const { timeMs } = await blocks.final();
  right = {
    rpc,
    blocks,
    chainId: 97,
    decimals: 18,
    contracts: {
      exchange: world.exchange,
      collateral: world.collateral,
      conditionalTokens: world.ctf,
    },
    domainSeparator: hexlify(separator),
    vector: { order, hash: hexlify(typedDigest(separator, orderStructHash(order))) },
    operators: [world.operator.address],
    oracle: { address: world.deployer, key: null },
    now: () => timeMs + 1_000,
  };
});
afterEach(() => nodes.heal());
afterAll(async () => {
  await nodes?.stop();
  await world?.stop();
});

const unfit = (checks: readonly ChainCheck[]): string[] =>
  checks
    .filter(({ verdict }) => verdict !== 'ok')
    .map(({ name, verdict, detail }) => `${verdict} ${name}: ${detail}`);
const examined = async (wrong: Partial<ExamineOptions> = {}): Promise<string[]> =>
  unfit(await examineChain({ ...right, ...wrong }));

test('a chain that this exchange can use passes every check', async () => {
  const checks = await examineChain(right);
  expect(checks.map(({ name }) => name)).toEqual([
    ...[
      'chain nodes',
      'chain contracts',
      'chain order hash',
      'chain decimals',
      'chain finality',
      'chain trading',
      'chain collateral',
    ],
    `chain operator ${world.operator.address}`,
    `chain oracle ${world.deployer}`,
  ]);
  expect(unfit(checks)).toEqual([]);
});

test.each<[string, () => Partial<ExamineOptions>, RegExp]>([
  ['another chain', () => ({ chainId: 56 }), /^fail chain nodes: .+ serves chain 97 and not 56/],
  [
    'other tokens',
    () => ({ contracts: { ...right.contracts, conditionalTokens: world.exchange } }),
    /CONDITIONAL_TOKENS/,
  ],
  ['another domain', () => ({ domainSeparator: `0x${'11'.repeat(32)}` }), /check EIP712_NAME$/],
  [
    'another hash',
    () => ({ vector: { ...right.vector, hash: `0x${'11'.repeat(32)}` } }),
    /fail chain order hash/,
  ],
  [
    'other decimals',
    () => ({ decimals: 6 }),
    /^fail chain decimals: the collateral has 18 decimals and not 6/,
  ],
  ['no operator', () => ({ operators: [newTrader().address] }), /an admin must add it/],
  [
    'no recent final block',
    () => ({ now: () => right.now() + 40_000 }),
    /^fail chain finality: .+no order is accepted/,
  ],
  ['a final block of some age', () => ({ now: () => right.now() + 20_000 }), /^warn chain finality/],
  ['one node', () => ({ rpc: nodes.client(nodes.proxies.slice(0, 1)) }), /^warn chain nodes: one node/],
])('%s is found, and nothing else', async (_, wrong, expected) => {
  const found = await examined(wrong());
  expect(found).toEqual([expect.stringMatching(expected)]);
});

test('another collateral is found', async () => {
  const contracts = { ...right.contracts, collateral: world.ctf };
  const found = await examined({ contracts });
  expect(found).toContainEqual(expect.stringMatching(/^fail chain contracts: COLLATERAL_ADDRESS is/));
});

test('an address without the contract is found', async () => {
  const found = await examined({ contracts: { ...right.contracts, exchange: newTrader().address } });
  expect(found).toContainEqual(
    expect.stringMatching(/^fail chain contracts: there is no contract at EXCHANGE_ADDRESS/),
  );
});

test('a node that is away is a warning, and two of three are a failure', async () => {
  nodes.proxies[0]?.drop();
  expect(await examined()).toEqual([
    expect.stringMatching(/^warn chain nodes: .+\(1\) did not answer eth_chainId/),
  ]);
  nodes.proxies[1]?.drop();
  expect(await examined()).toContainEqual(expect.stringMatching(/^fail chain nodes/));
});

test.each<[string, (proxy: ChainProxy | undefined) => unknown, RegExp]>([
  ['late', (proxy) => proxy?.delay(3_000), /^warn chain nodes: .+\(1\) answers late$/],
  ['behind', (proxy) => proxy?.lag(5), /^warn chain nodes: .+\(1\) is behind the others$/],
  [
    'a liar',
    (proxy) =>
      proxy?.forge(({ method }, result) =>
        method === 'eth_call' ? `${String(result).slice(0, -1)}7` : result,
      ),
    /^warn chain nodes: .+\(1\) contradicts the others$/,
  ],
])('one node of three that is %s is a warning', async (_, spoil, expected) => {
  spoil(nodes.proxies[0]);
  await nodes.ask('anvil_mine', '0x6');
  // The others may take two seconds, as they do on a busy machine.
  const rpc = nodes.client(nodes.proxies, { patience: 3 });
  expect(await examined({ rpc, blocks: createBlocks(rpc, { kind: 'tag' }) })).toEqual([
    expect.stringMatching(expected),
  ]);
});

test('a paused contract and an operator without money are found', async () => {
  const { address } = world.operator;
  await nodes.ask('anvil_setBalance', address, '0x1');
  expect(await examined()).toEqual([expect.stringMatching(/^warn chain operator .+little money/)]);
  await nodes.ask('anvil_setBalance', address, `0x${ONE.toString(16)}`);
  await world.call(world.admin.address, 'pauseTrading');
  expect(await examined()).toContainEqual(
    'fail chain trading: the contract is paused: an admin must unpause it',
  );
  await world.call(world.admin.address, 'unpauseTrading');
});

test.each<[string, () => Partial<ExamineOptions>, string | undefined]>([
  ['a chain that fits', () => ({}), undefined],
  ['another chain', () => ({ chainId: 56 }), 'CHAIN_RPC_URL'],
  [
    'other tokens',
    () => ({ contracts: { ...right.contracts, conditionalTokens: world.exchange } }),
    'CONDITIONAL_TOKENS_ADDRESS',
  ],
  [
    'another contract than the exchange',
    () => ({ contracts: { ...right.contracts, exchange: world.collateral } }),
    'EXCHANGE_ADDRESS',
  ],
  ['another domain', () => ({ domainSeparator: `0x${'11'.repeat(32)}` }), 'EIP712_NAME'],
  ['another hash', () => ({ vector: { ...right.vector, hash: `0x${'11'.repeat(32)}` } }), 'EXCHANGE_ADDRESS'],
  ['other decimals', () => ({ decimals: 6 }), 'COLLATERAL_DECIMALS'],
  ['no operator', () => ({ operators: [newTrader().address] }), undefined],
  [
    'no answer',
    () => {
      for (const proxy of nodes.proxies) proxy.drop();
      return { decimals: 6 };
    },
    undefined,
  ],
])('%s is or is not a reason to refuse the start', async (_, wrong, expected) => {
  expect((await contradiction({ ...right, ...wrong() }))?.variable).toBe(expected);
});

test('a contract that settles no matches by their ids is a reason to refuse the start', async () => {
  const { selector = '' } = exchangeAbi.getFunction('isSettled') ?? {};
  for (const proxy of nodes.proxies)
    proxy.forge(({ method, params: [call] }, result) =>
      method === 'eth_call' && (call as { data: string }).data.startsWith(selector) ? '0x' : result,
    );
  expect((await contradiction(right))?.variable).toBe('EXCHANGE_ADDRESS');
});

test('an oracle with a role, without money or of another address is found', async () => {
  const stranger = newTrader().address;
  const mine = (address: string, key: string | null = address) => examined({ oracle: { address, key } });
  expect(await mine(world.deployer)).toEqual([]);
  for (const key of [world.admin.address, null])
    expect(await mine(world.admin.address, key)).toEqual([
      expect.stringMatching(/^fail chain oracle .+it is an admin/),
    ]);
  expect(await mine(world.operator.address)).toEqual([
    expect.stringMatching(/^warn chain oracle .+it is an operator/),
  ]);
  expect(await mine(stranger, world.operator.address)).toEqual([
    expect.stringMatching(/^fail chain oracle .+: ORACLE_KEY is that of/),
  ]);
  expect(await mine(stranger)).toEqual([expect.stringMatching(/^warn chain oracle .+little money/)]);
});

test('collateral of which no transfer, or none of zero, can be made as the contract makes it is found', async () => {
  const { artifact, abi } = compileHostile();
  const token = await world.chain.deploy(world.deployer, artifact);
  const contracts = { ...right.contracts, collateral: token };
  const found = async (): Promise<string | undefined> =>
    (await examined({ contracts })).find((line) => line.includes('chain collateral'));
  expect(await found()).toMatch(/^warn .+no wallet known here owns any/);
  await world.chain.send(world.deployer, token, abi.encodeFunctionData('mint', [world.ctf, ONE]));
  const refused = (amount: number) => new RegExp(`^fail .+a transfer of ${amount} units of it is refused`);
  for (const [mode, expected] of [
    ...([
      ['answersFalse', refused(1)],
      ['reverts', refused(1)],
      ['burnsGas', refused(1)],
    ] as const),
    ...([['refusesZero', refused(0)]] as const),
  ] as const) {
    await world.chain.send(world.deployer, token, abi.encodeFunctionData('ban', [MODES[mode], ZeroAddress]));
    expect(await found()).toMatch(expected);
  }
  for (const mode of ['usual', 'answersNothing'] as const) {
    await world.chain.send(world.deployer, token, abi.encodeFunctionData('ban', [MODES[mode], ZeroAddress]));
    expect(await found()).toBeUndefined();
  }
});

describe('the start of a process', () => {
  let server: DurableRedis;
  let env: Record<string, string>;
  beforeAll(async () => {
    server = await startDurableRedis({ appendonly: 'always' });
    env = {
      ...ENVIRONMENT,
      REDIS_URL: server.url,
      FUNDS: 'chain',
      CHAIN_RPC_URL: nodes.anvil.url,
      EXCHANGE_ADDRESS: world.exchange,
      COLLATERAL_ADDRESS: world.collateral,
      CONDITIONAL_TOKENS_ADDRESS: world.ctf,
      ORACLE_ADDRESS: world.deployer,
      OPERATOR_KEYS: world.operator.key.privateKey,
      ORACLE_KEY: world.admin.key.privateKey,
    };
  });
  afterAll(() => server?.stop());

  const lines: string[] = [];
  const begin = async (start: typeof startWeb | typeof startWorker, more: Record<string, string>) => {
    const config = loadConfig({ ...env, ...more });
    const running = await start(
      config,
      createLogger(config, 'test', { write: (line) => void lines.push(line) }),
    );
    await running.stop(2_000);
  };

  test.each([
    ['web', startWeb],
    ['a worker', startWorker],
  ] as const)('%s does not start where the chain contradicts a variable', async (_, start) => {
    await expect(begin(start, { COLLATERAL_DECIMALS: '6' })).rejects.toThrow(
      /COLLATERAL_DECIMALS does not fit/,
    );
    await expect(begin(start, { EIP712_NAME: 'Another' })).rejects.toThrow(
      /EIP712_NAME does not fit the chain/,
    );
  });

  test('neither starts with paper funds where nodes for contract wallets serve another chain, and both while none answers', async () => {
    const paper = { FUNDS: 'paper', OPERATOR_KEYS: '', ORACLE_KEY: '' };
    const redis = await startTestRedis();
    for (const start of [startWeb, startWorker]) {
      const more = { ...paper, REDIS_URL: redis.url };
      const other = begin(start, { ...more, NETWORK: 'mainnet' });
      await expect(other).rejects.toThrow(
        /CHAIN_RPC_URL does not fit the chain: .+ serves chain 97 and not 56/,
      );
      await begin(start, { ...more, CHAIN_RPC_URL: 'http://127.0.0.1:1' });
      await begin(start, more);
    }
    const { checks } = await createShell(redis.url, { CHAIN_RPC_URL: nodes.anvil.url }).json('doctor');
    expect((checks as ChainCheck[]).filter(({ name }) => name.startsWith('chain '))).toEqual([
      { name: 'chain nodes', verdict: 'warn', detail: expect.stringContaining('one node') },
    ]);
    await redis.stop();
  });

  test('neither starts on a Redis that may lose a match', async () => {
    const weak = await startDurableRedis({ appendonly: 'everysec' });
    const more = { REDIS_URL: weak.url, ALLOW_WEAK_DURABILITY: '1' };
    for (const start of [startWeb, startWorker])
      await expect(begin(start, more)).rejects.toThrow(/durability everysec.+FUNDS=chain needs that/);
    await weak.stop();
  });

  test('web starts while no node answers, and keeps no key', async () => {
    await begin(startWeb, { CHAIN_RPC_URL: 'http://127.0.0.1:1' });
    expect(lines.join('')).toContain('web ignores OPERATOR_KEYS and ORACLE_KEY');
    const { chain } = withoutKeys(loadConfig(env));
    expect(chain).toMatchObject({ operatorKeys: [], oracleKey: null });
  });
});

test('exchange doctor shows the checks with funds on a chain', async () => {
  const server = await startTestRedis();
  const { privateKey } = world.operator.key;
  const env = {
    FUNDS: 'chain',
    CHAIN_RPC_URL: nodes.proxies.map(({ url }) => url).join(','),
    EXCHANGE_ADDRESS: world.exchange,
    COLLATERAL_ADDRESS: world.collateral,
    CONDITIONAL_TOKENS_ADDRESS: world.ctf,
    ORACLE_ADDRESS: world.deployer,
    OPERATOR_KEYS: privateKey,
  };
  await nodes.ask('anvil_mine', '0x4');
  const { checks } = await createShell(server.url, env).json('doctor');
  const shown = (checks as ChainCheck[]).filter(({ name }) => name.startsWith('chain '));
  // How old the final block is depends on the machine.
  expect(unfit(shown.filter(({ name }) => name !== 'chain finality'))).toEqual([]);
  expect(shown.map(({ name }) => name)).toContain(`chain operator ${world.operator.address.toLowerCase()}`);
  expect(shown).toHaveLength(9);
  // anvil has an account of its own, and the two methods of a Web3Signer.
  const remote = { ...env, OPERATOR_KEYS: '', OPERATOR_SIGNER_URL: nodes.anvil.url };
  const { checks: others } = await createShell(server.url, remote).json('doctor');
  const name = `chain operator ${world.deployer.toLowerCase()}`;
  expect(others).toContainEqual({ name, verdict: 'fail', detail: expect.stringContaining('addOperator') });
  const away = { ...remote, OPERATOR_SIGNER_URL: 'http://127.0.0.1:1' };
  const { checks: unseen } = await createShell(server.url, away).json('doctor');
  expect(unseen).toContainEqual(expect.objectContaining({ name: 'chain signer', verdict: 'fail' }));
  await server.stop();
});
