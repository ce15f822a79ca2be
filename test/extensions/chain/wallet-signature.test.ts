import { AbiCoder, concat, keccak256 } from 'ethers';
import { createBreaker } from '../../../src/chain/breaker';
import { createWalletSignatures } from '../../../src/chain/wallet-signature';
import type { SignatureQuestion } from '../../../src/exchange/wallet-signature';
import { until } from '../../support/waiting';
import { CHAIN_ID, type Nodes, startNodes } from './nodes';
import type { ChainProxy } from './proxy';
import { CODE } from './stories';
import { newTrader } from './world';

const DIGEST = `0x${'42'.repeat(32)}`;
const WRAPPED = `0x${'6492'.repeat(16)}`;
const LIMIT_MS = 60_000;
/** Accepts the signature when the number of the block is even. */
const BY_PARITY = '0x43600116601557631626ba7e60e01b5f5260205ff35b5f5ffd';
const unavailable = { code: 'UNAVAILABLE', status: 503 };

let nodes: Nodes;
let [a, b, c]: ChainProxy[] = [];
const must = (proxy: ChainProxy | undefined): ChainProxy => {
  if (!proxy) throw new Error('there is no such proxy');
  return proxy;
};

beforeAll(async () => {
  nodes = await startNodes(3);
  [a, b, c] = nodes.proxies;
});
afterEach(() => {
  nodes.heal();
  for (const proxy of nodes.proxies) proxy.forget();
});
afterAll(() => nodes?.stop());

const warnings: unknown[] = [];
const signatures = (of: readonly ChainProxy[] = nodes.proxies, limitMs = LIMIT_MS, chainId = CHAIN_ID) =>
  createWalletSignatures({
    rpc: nodes.client(of, { patience: 1 }),
    chainId,
    limitMs,
    log: { warn: (entry: unknown) => void warnings.push(entry) },
  });

async function walletWith(code: string): Promise<string> {
  const { address } = newTrader();
  await nodes.ask('anvil_setCode', address, code);
  return address;
}

const questionTo = (wallet: string, more: Partial<SignatureQuestion> = {}): SignatureQuestion => ({
  wallet,
  digest: DIGEST,
  signature: '0x1234',
  allowsUndeployed: false,
  ...more,
});

describe('a contract wallet', () => {
  test.each([
    ['that accepts the signature makes it valid', CODE.acceptsSignatures, true],
    ['that reverts makes it invalid', CODE.reverts, false],
    ['that burns all gas makes it invalid', CODE.burnsAllGas, false],
    ['that answers nothing makes it invalid', CODE.answersNothing, false],
  ])('%s', async (_, code, isValid) => {
    const wallet = await walletWith(code);
    expect(await signatures().verify(questionTo(wallet))).toEqual({ isValid, hasCode: true });
  });

  test('gets a signature of any length as it is', async () => {
    // It accepts when the digest of its whole call data is in its storage.
    const wallet = await walletWith('0x365f5f37365f205f54146010575f5ffd5b631626ba7e60e01b5f5260205ff3');
    for (const length of [0, 1, 31, 32, 33, 65, 1_024, 8_192]) {
      const signature = `0x${'ab'.repeat(length)}`;
      const data = `0x1626ba7e${AbiCoder.defaultAbiCoder().encode(['bytes32', 'bytes'], [DIGEST, signature]).slice(2)}`;
      await nodes.ask('anvil_setStorageAt', wallet, `0x${'0'.repeat(64)}`, keccak256(data));
      expect([length, await signatures().verify(questionTo(wallet, { signature }))]).toEqual([
        length,
        { isValid: true, hasCode: true },
      ]);
    }
  });

  test.each([0, 65, 1_024])(
    'may use as much gas as the question says, with a signature of %i bytes',
    async (length) => {
      /** Accepts every signature, after a number of rounds of 26 gas. */
      const slow = (rounds: number): Promise<string> =>
        walletWith(`0x61${rounds.toString(16).padStart(4, '0')}${CODE.acceptsSlowly.slice(8)}`);
      const [within, beyond] = [await slow(11_500), await slow(11_800)];
      for (const byte of ['00', 'ff']) {
        const signature = `0x${byte.repeat(length)}`;
        const asked = async (wallet: string, limit: { readonly walletGas?: number }): Promise<boolean> =>
          (await signatures().verify(questionTo(wallet, { signature, ...limit }))).isValid;
        const limit = { walletGas: 300_000 };
        expect([
          byte,
          await asked(within, limit),
          await asked(beyond, limit),
          await asked(beyond, {}),
        ]).toEqual([...[byte, true, false, true]]);
      }
    },
  );

  test('that is not deployed has no valid signature', async () => {
    expect(await signatures().verify(questionTo(newTrader().address))).toEqual({
      isValid: false,
      hasCode: false,
    });
  });

  test.each([
    ['burns all gas', CODE.burnsAllGas],
    ['reverts', CODE.reverts],
  ])('whose factory %s has no valid signature, and the nodes are not blamed', async (_, code) => {
    const inner = AbiCoder.defaultAbiCoder().encode(
      ['address', 'bytes', 'bytes'],
      [await walletWith(code), '0x', '0x1234'],
    );
    const rpc = nodes.client();
    const { verify } = createWalletSignatures({ rpc, chainId: CHAIN_ID, limitMs: LIMIT_MS });
    for (const signature of [concat([inner, WRAPPED]), WRAPPED]) {
      const question = questionTo(newTrader().address, { signature, allowsUndeployed: true });
      expect((await verify(question)).isValid).toBe(false);
    }
    expect(rpc.health().map(({ failures }) => failures)).toEqual([0, 0, 0]);
  });
});

describe('the nodes', () => {
  test('one that lies can neither accept nor refuse a signature', async () => {
    const [yes, no] = [await walletWith(CODE.acceptsSignatures), await walletWith(CODE.reverts)];
    const word = (n: number): string => n.toString(16).padStart(64, '0');
    must(a).forge((request, result) => (request.method === 'eth_call' ? `0x${word(1)}${word(1)}` : result));
    expect(await signatures().verify(questionTo(no))).toEqual({ isValid: false, hasCode: true });
    must(a).forge((request, result) => (request.method === 'eth_call' ? `0x${word(0)}${word(0)}` : result));
    expect(await signatures().verify(questionTo(yes))).toEqual({ isValid: true, hasCode: true });
  });

  test('two that contradict each other give no answer, and are asked again', async () => {
    const wallet = await walletWith(CODE.acceptsSignatures);
    must(a).forge((request, result) => (request.method === 'eth_call' ? `0x${'0'.repeat(128)}` : result));
    const two = signatures([must(a), must(b)]);
    const before = warnings.length;
    for (let n = 0; n < 8; n++)
      await expect(two.verify(questionTo(wallet))).rejects.toMatchObject(unavailable);
    expect(warnings.slice(before)).toEqual([]);
    must(a).heal();
    expect(await two.verify(questionTo(wallet))).toEqual({ isValid: true, hasCode: true });
  });

  test.each([
    ['nothing', '0x'],
    ['one word', `0x${'0'.repeat(64)}`],
    ['words that are no truth values', `0x${'0'.repeat(63)}2${'0'.repeat(64)}`],
    ['no bytes', 'valid'],
    ['null', null],
  ])('that answer %s have not answered', async (_, answer) => {
    const wallet = await walletWith(CODE.acceptsSignatures);
    for (const proxy of nodes.proxies)
      proxy.forge((request, result) => (request.method === 'eth_call' ? answer : result));
    await expect(signatures().verify(questionTo(wallet))).rejects.toMatchObject(unavailable);
  });

  test('of another chain are not asked about a wallet', async () => {
    const wallet = await walletWith(CODE.acceptsSignatures);
    const other = signatures(nodes.proxies, LIMIT_MS, 56);
    await expect(other.verify(questionTo(wallet))).rejects.toMatchObject(unavailable);
    expect(nodes.proxies.map(({ asked }) => asked.get('eth_call') ?? 0)).toEqual([0, 0, 0]);
    expect(JSON.stringify(warnings)).toContain('serve chain 97 and not 56');
  });

  test('that do not answer keep a caller no longer than the limit', async () => {
    const wallet = await walletWith(CODE.acceptsSignatures);
    for (const proxy of nodes.proxies) proxy.hang();
    await expect(signatures(nodes.proxies, 200).verify(questionTo(wallet))).rejects.toMatchObject(
      unavailable,
    );
  });

  test('that fail five times in a row are left alone for a while', async () => {
    const wallet = await walletWith(CODE.acceptsSignatures);
    const one = signatures([must(c)]);
    must(c).fail();
    for (let n = 0; n < 5; n++)
      await expect(one.verify(questionTo(wallet))).rejects.toMatchObject(unavailable);
    must(c).heal();
    must(c).forget();
    await expect(one.verify(questionTo(wallet))).rejects.toMatchObject(unavailable);
    expect([...must(c).asked]).toEqual([]);
    await until('the nodes are tried again', () =>
      one.verify(questionTo(wallet)).then(
        ({ isValid }) => isValid,
        () => false,
      ),
    );
  });
});

test('a wallet that answers by the parity of the block is valid in some blocks and not in others', async () => {
  const wallet = await walletWith(BY_PARITY);
  const found = new Set<boolean>();
  for (let n = 0; n < 2; n++) {
    found.add((await signatures([must(a)]).verify(questionTo(wallet))).isValid);
    await nodes.ask('anvil_mine', '0x1');
  }
  expect([...found].sort()).toEqual([false, true]);
});

test('an open breaker lets a single try begin, and closes when that succeeds', async () => {
  let opened = 0;
  const breaker = createBreaker({ failuresMax: 2, restMs: 40, onOpen: () => opened++ });
  breaker.fail();
  expect([breaker.waitMs(), opened]).toEqual([0, 0]);
  breaker.fail();
  expect(breaker.waitMs()).toBeGreaterThan(0);
  expect(opened).toBe(1);
  await until('a try begins', () => breaker.waitMs() === 0);
  breaker.succeed();
  expect([breaker.waitMs(), breaker.waitMs()]).toEqual([0, 0]);
});

test('a flood of questions reaches the nodes within the allowance, and another asker has its turn', async () => {
  const [PER_SECOND, BURST, EACH] = [50, 50, 40];
  const wallet = await walletWith(CODE.acceptsSignatures);
  const { verify } = signatures([must(a)]);
  expect(await verify(questionTo(wallet, { asker: 'first' }))).toMatchObject({ isValid: true });
  must(a).forget();
  const startedAt = performance.now();
  const ask = (asker: string): Promise<unknown> =>
    verify(questionTo(wallet, { asker })).then(
      ({ isValid }) => isValid,
      (error: { code: unknown; message: string }) => `${error.code}: ${error.message}`,
    );
  const floods = ['one', 'two', 'three', 'four'].map((asker) =>
    Promise.all(Array.from({ length: EACH }, () => ask(asker))),
  );
  for (let n = 0; n < 5; n++) expect(await ask('honest')).toBe(true);
  const found = (await Promise.all(floods)).flat();
  const asked = must(a).asked.get('eth_call') ?? 0;
  expect(asked).toBe(5 + found.filter((one) => one === true).length);
  expect(asked).toBeLessThanOrEqual(BURST + (PER_SECOND * (performance.now() - startedAt)) / 1_000 + 1);
  expect(new Set(found)).toEqual(
    new Set([true, 'UNAVAILABLE: too many signatures of contract wallets wait for the chain; try again']),
  );
});
