import { tell } from '../../support/telling';
import type { Limit, Trader } from '../../support/trader';
import { sleep } from '../../support/waiting';
import { transfer } from './deals';
import { type FaultWorld, startFaultWorld } from './fault-world';
import type { ChainProxy } from './proxy';
import { COLLATERAL, ONE } from './world';

/**
 * Faults of nodes and of the chain, each alone, on an exchange as it is deployed (docs/run/chain.md, "What is tested"). After each one
 * every match has ended by itself, and the books are those of the chain.
 */
const HALT_MS = 1_000 * Number(process.env.HALT_SECONDS ?? 0);
const SLOW_MS = 10_000;
const SLOW = 'all nodes take ten seconds';
const DEPTHS = [1, 2, 3, 4, 5, 6, 7, 8];
const LIMIT_MS = 600_000;
const FAR: Limit = { side: 'BUY', outcome: 0, pips: 100, lots: 100 };

let faults: FaultWorld;
let alice: Trader;
let bob: Trader;
const own: string[] = [];

beforeAll(async () => {
  faults = await startFaultWorld();
  [alice, bob] = [await faults.readyTrader(), await faults.readyTrader()];
}, LIMIT_MS);
afterEach(async () => {
  faults?.goOn();
  faults?.heal();
  await settled();
  expect([...faults.watch.violations, ...(await faults.check())]).toEqual([]);
}, LIMIT_MS);
afterAll(() => faults?.stop());

async function match(): Promise<string> {
  const id = await faults.match(alice, bob);
  own.push(id);
  return id;
}

/** By itself, after a fault: orders are taken, and no match was sent under two nonces. */
async function settled(): Promise<void> {
  await faults.until('orders are taken again', () => faults.isMode('NORMAL'));
  for (const id of own.splice(0)) {
    const nonces = new Set(faults.sentWith(id).map(({ from, nonce }) => `${from} ${nonce}`));
    expect([id, nonces.size]).toEqual([id, 1]);
  }
}

const cancelled = async (hash: string): Promise<void> => {
  const { body } = await alice.post(`/orders/${hash}/cancel`);
  expect(body).toMatchObject({ status: 'CANCELLED' });
};

/** From a fault until orders are refused: cancels work before and afterwards. Tells how long it took. */
async function refusedSince(fault: string, sinceMs: number, resting: readonly string[]): Promise<void> {
  await faults.until('only cancels are taken', () => faults.isMode('CANCEL_ONLY'));
  tell(`${fault}: CANCEL_ONLY after ${((performance.now() - sinceMs) / 1_000).toFixed(1)} s`);
  const refused = await faults.submit(bob, FAR);
  expect(refused.body).toMatchObject({ status: 503, code: 'CANCEL_ONLY' });
  for (const hash of resting) await cancelled(hash);
}

async function backSince(fault: string, sinceMs: number, id: string): Promise<void> {
  await faults.until('orders are taken again', () => faults.isMode('NORMAL'));
  const modeMs = performance.now() - sinceMs;
  await faults.is(id, 'CONFIRMED');
  const endMs = performance.now() - sinceMs;
  tell(
    `${fault}: orders after ${(modeMs / 1_000).toFixed(1)} s, settled after ${(endMs / 1_000).toFixed(1)} s`,
  );
}

const resting = async (count: number): Promise<string[]> => {
  const hashes: string[] = [];
  for (let i = 0; i < count; i++) hashes.push((await faults.place(alice, FAR)).orderHash);
  return hashes;
};

/** A wallet that the books have never read, with funds. */
const unseen = (): Promise<Trader> => faults.trader();

describe('while no node is of use', () => {
  const silences: readonly (readonly [string, (proxy: ChainProxy) => void])[] = [
    ['all nodes are away', (proxy) => proxy.drop()],
    [SLOW, (proxy) => proxy.delay(SLOW_MS)],
  ];
  test.each(silences)(
    '%s: wallets that were seen trade on, then only cancels are taken, and all of it is over by itself',
    async (name, spoil) => {
      const [first, second] = await resting(2);
      // Wallets with open orders are read at each final block.
      await faults.place(bob, FAR);
      const stranger = await unseen();
      const since = performance.now();
      for (const proxy of faults.nodes.proxies) spoil(proxy);
      const before = await faults.finalBlock();
      const id = await match();
      const unread = await faults.submit(stranger, FAR);
      expect(unread.body).toMatchObject({ status: 503, code: 'UNAVAILABLE' });
      await cancelled(first ?? '');
      await refusedSince(name, since, [second ?? '']);
      if (name === SLOW && HALT_MS > 0)
        await faults.until('the books move on', async () => {
          return ((await faults.shown(alice))?.asOfBlock ?? 0) > before;
        });
      const healed = performance.now();
      faults.heal();
      await backSince(name, healed, id);
      await faults.until('a wallet that was never read can order', async () => {
        return (await faults.submit(stranger, FAR)).body?.status === 'OPEN';
      });
    },
    LIMIT_MS,
  );
});

describe('one node of three, the one that is asked first,', () => {
  /** Claims a fortune for every wallet that it is asked for. */
  const fortune = (proxy: ChainProxy): void =>
    proxy.forge(({ method, params }, result) => {
      const { to } = (params[0] ?? {}) as { to?: string };
      if (method !== 'eth_call' || to !== undefined) return result;
      const words = String(result).slice(2).match(/.{64}/g) ?? [];
      return `0x${words.map((word, i) => (i === 5 || i === 6 ? '0'.repeat(40) + 'f'.repeat(24) : word)).join('')}`;
    });
  test.each<[string, (proxy: ChainProxy) => unknown]>([
    ['forges balances', fortune],
    ['hides logs', (proxy) => proxy.hideLogs()],
    ['answers from older blocks', (proxy) => proxy.lag(5)],
  ])(
    '%s: no wallet gets more than it has, and matches settle',
    async (_, spoil) => {
      await spoil(faults.nodes.proxies[0] as ChainProxy);
      const poor = await faults.readyTrader(10n * ONE);
      expect((await faults.shown(poor)).collateral).toMatchObject({ total: '10', available: '10' });
      const id = await match();
      const greedy = await faults.submit(poor, { side: 'BUY', outcome: 0, pips: 5_000, lots: 10_000 });
      expect(greedy.body).toMatchObject({ code: 'INSUFFICIENT_BALANCE' });
      await faults.is(id, 'CONFIRMED');
      for (const one of [alice, bob]) {
        const chain = await faults.world.balance(one.address, COLLATERAL);
        expect((await faults.shown(one)).collateral.total).toBe(String(Number(chain / 10n ** 12n) / 1e6));
      }
    },
    LIMIT_MS,
  );
});

describe('blocks that are taken back before they are final', () => {
  /** Its bytes are with the nodes, and in no block; the final block stays from now on. */
  async function waiting(): Promise<{ id: string; hash: string }> {
    await faults.halt();
    const id = await match();
    const hash = await pooled(id);
    await faults.holdFinality();
    return { id, hash };
  }
  async function pooled(id: string): Promise<string> {
    const hash = () => faults.watch.of(id)?.transactionHash ?? '';
    await faults.until('its transaction waits for a block', async () => {
      return hash() !== '' && (await faults.nodes.ask('eth_getTransactionByHash', hash())) !== null;
    });
    return hash();
  }
  const asked = (method: string): number =>
    faults.nodes.proxies.reduce((sum, proxy) => sum + (proxy.asked.get(method) ?? 0), 0);
  /** The operator has seen the newest block, and the nonces of its lanes in it. */
  async function seen(): Promise<void> {
    const heads = asked('eth_blockNumber');
    await faults.until('the operator looks for the head', () => asked('eth_blockNumber') >= heads + 2);
    const nonces = asked('eth_getTransactionCount');
    await faults.until('it looks for nonces', () => asked('eth_getTransactionCount') >= nonces + 6);
  }
  const inBlock = (id: string): Promise<void> =>
    faults.until('the match is in a block', () => (faults.watch.of(id)?.blockNumber ?? 0) > 0);

  /** Mines once the bytes have been sent again. */
  async function again(hash: string, before: number): Promise<void> {
    await faults.until('the same bytes are sent again', () => faults.sent(hash) > before);
    await faults.mine(1);
  }

  test.each(DEPTHS)(
    'a rollback of %d with all that waits: the same bytes settle the match',
    async (depth) => {
      const { id, hash } = await waiting();
      await faults.mine(depth);
      await inBlock(id);
      await seen();
      const before = faults.sent(hash);
      await faults.rollback(depth);
      await again(hash, before);
      faults.goOn();
      faults.heal();
      await faults.is(id, 'CONFIRMED');
      expect(faults.watch.of(id)?.transactionHash).toBe(hash);
    },
    LIMIT_MS,
  );

  test(
    'a reorganization with a drain before our transaction: the match fails for that wallet, and was never shown as final',
    async () => {
      const guilty = await faults.readyTrader();
      const victim = await faults.readyTrader();
      await faults.halt();
      const id = await faults.match(victim, guilty);
      const hash = await pooled(id);
      await faults.holdFinality();
      await faults.mine(2);
      await inBlock(id);
      await seen();
      const before = faults.sent(hash);
      const all = await faults.world.balance(guilty.address, COLLATERAL);
      const { collateral, fees } = faults.world;
      const drain = {
        from: guilty.address,
        to: collateral,
        data: transfer(fees.address, all + 60n * 10n ** 16n),
      };
      await faults.reorganize(2, drain);
      // The next block of the new branch tells the operator.
      await faults.mine(1);
      await again(hash, before);
      faults.goOn();
      faults.heal();
      await faults.is(id, 'FAILED');
      expect(faults.watch.of(id)).toMatchObject({
        failureReason: 'COLLATERAL',
        failedWallet: guilty.address,
        transactionHash: hash,
      });
      expect(faults.watch.statuses(id)).not.toContain('CONFIRMED');
      // The order of the innocent maker rests again, and reserves what it reserved before.
      expect((await faults.shown(victim)).collateral).toMatchObject({
        unsettled: '0',
        reserved: '0.4',
        available: '9999.6',
      });
    },
    LIMIT_MS,
  );
});

describe('a chain that does not move', () => {
  test(
    'no blocks: only cancels are taken, and what waits is settled without help afterwards',
    async () => {
      const [first, second, third] = await resting(3);
      const since = performance.now();
      await faults.halt();
      const id = await match();
      await cancelled(first ?? '');
      await refusedSince('a chain without blocks', since, [second ?? '']);
      await sleep(since + HALT_MS - performance.now());
      await cancelled(third ?? '');
      const healed = performance.now();
      faults.goOn();
      await backSince('a chain without blocks', healed, id);
    },
    LIMIT_MS,
  );

  test(
    'no final blocks while the head moves: only cancels are taken, nothing is shown as final, and it is over by itself',
    async () => {
      const [first, second] = await resting(2);
      const since = performance.now();
      await faults.holdFinality();
      const id = await match();
      await cancelled(first ?? '');
      await refusedSince('finality that stands still', since, [second ?? '']);
      await sleep(since + HALT_MS - performance.now());
      expect(faults.watch.of(id)).toMatchObject({ status: 'SUBMITTED', blockNumber: expect.any(Number) });
      const healed = performance.now();
      faults.heal();
      await backSince('finality that stands still', healed, id);
    },
    LIMIT_MS,
  );
});

describe('broadcasts', () => {
  test(
    'that no node passes on are made again under the same nonce, and settle once',
    async () => {
      for (const proxy of faults.nodes.proxies) proxy.swallow();
      const id = await match();
      await faults.until('it is sent again for more', () => faults.sentWith(id).length > 1);
      faults.heal();
      await faults.is(id, 'CONFIRMED');
    },
    LIMIT_MS,
  );

  test(
    'that every node passes on twice settle once',
    async () => {
      for (const proxy of faults.nodes.proxies) proxy.double();
      await faults.is(await match(), 'CONFIRMED');
    },
    LIMIT_MS,
  );
});
