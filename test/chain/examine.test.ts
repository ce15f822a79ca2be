import { hexlify } from 'ethers';
import { domainSeparator, orderStructHash, typedDigest } from '../../src/auth/order-hash';
import { createBlocks } from '../../src/chain/blocks';
import { type ChainCheck, type ExamineOptions, examineChain } from '../../src/chain/examine';
import { createShell } from '../cli/shell';
import { startTestRedis } from '../support/redis';
import { type Nodes, startNodes } from './nodes';
import { newTrader, ONE, startWorld, type World } from './world';

let world: World;
let nodes: Nodes;
let right: ExamineOptions;

beforeAll(async () => {
  world = await startWorld({ slotsInAnEpoch: 1 });
  nodes = await startNodes(3, world.anvil);
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
    ...{ rpc, blocks, chainId: 97, decimals: 18 },
    contracts: {
      exchange: world.exchange,
      collateral: world.collateral,
      conditionalTokens: world.ctf,
    },
    domainSeparator: hexlify(separator),
    vector: { order, hash: hexlify(typedDigest(separator, orderStructHash(order))) },
    operators: [world.operator.address],
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
      'chain finality',
      'chain contracts',
      'chain order hash',
      'chain decimals',
      'chain trading',
    ],
    `chain operator ${world.operator.address}`,
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

test('exchange doctor shows the checks with funds on a chain', async () => {
  const server = await startTestRedis();
  const { privateKey } = world.operator.key;
  const env = {
    ...{ FUNDS: 'chain', CHAIN_RPC_URL: nodes.proxies.map(({ url }) => url).join(',') },
    ...{ EXCHANGE_ADDRESS: world.exchange, COLLATERAL_ADDRESS: world.collateral },
    ...{ CONDITIONAL_TOKENS_ADDRESS: world.ctf, ORACLE_ADDRESS: world.deployer, OPERATOR_KEYS: privateKey },
  };
  await nodes.ask('anvil_mine', '0x4');
  const { checks } = await createShell(server.url, env).json('doctor');
  const shown = (checks as ChainCheck[]).filter(({ name }) => name.startsWith('chain '));
  // How old the final block is depends on the machine.
  expect(unfit(shown.filter(({ name }) => name !== 'chain finality'))).toEqual([]);
  expect(shown.map(({ name }) => name)).toContain(`chain operator ${world.operator.address.toLowerCase()}`);
  expect(shown).toHaveLength(7);
  await server.stop();
});
