import { Refusal } from '../../src/exchange/errors';
import { MODES } from '../../src/exchange/status';
import type { SettlementKey } from '../../src/store/records/settlement';
import { createRandom } from '../support/random';
import { chooseSeed, tell } from '../support/telling';
import { sleep, until } from '../support/waiting';
import { checkAll } from './storm-check';
import { createDeeds, createFaults, type Guilty, guiltyOf, inTurn } from './storm-trouble';
import { type StormWorld, startStormWorld, type Terms } from './storm-world';
import { ONE, type Trader } from './world';

/**
 * Wallets place random orders that cross, in markets with several fees, and some of them move their funds away, withdraw
 * approvals, cancel or raise their nonce on the chain. Meanwhile one node of three misbehaves, blocks are taken back, and the
 * worker is killed. In the end the books equal the chain in every account, and only those who spoilt a match have lost
 * anything by it.
 */
const MATCHES = Number(process.env.STORM_MATCHES ?? 300);
/** Of each market; in the last one only the planted matches are made. */
const FEE_RATES = [0, 37, 200, 100];
const INNOCENT = 6;
/** At a time; one that is suspended makes way for another. */
const GUILTY = 8;
const REPLACEMENTS = Math.ceil(MATCHES / 50);
const KILLS = 2 + Math.floor(MATCHES / 2_000);
const CASH = 3_000n * ONE;
const SETS = 1_000n * ONE;
const WAITING_MAX = 400;
const STEPS_MAX = 100 * MATCHES;
const REST_MS = 100;
const PACE_MS = 40;
/** Orders on their way to Redis, and wallets that get funds. */
const AT_ONCE = 4;
const HALTED = String(MODES.indexOf('HALTED'));
const LOOK_MS = 250;
const FINAL_BLOCKS = 6;
const END_MS = 180_000;
const LIMIT_MS = 3_600_000;

let storm: StormWorld;
const innocent: Trader[] = [];
const guilty: Guilty[] = [];
/** One of each for every kill: they meet once. */
const spoilers: Guilty[] = [];
const victims: Trader[] = [];

async function people<T>(count: number, of: (trader: Trader) => T, into: T[]): Promise<void> {
  for (let left = count; left > 0; left -= AT_ONCE) {
    const some = Array.from({ length: Math.min(left, AT_ONCE) }, () => storm.trader(CASH, SETS));
    into.push(...(await Promise.all(some)).map(of));
  }
}

beforeAll(async () => {
  storm = await startStormWorld(FEE_RATES);
  await people(INNOCENT, (one) => one, innocent);
  await people(GUILTY + REPLACEMENTS, guiltyOf, guilty);
  await people(KILLS, guiltyOf, spoilers);
  await people(KILLS, (one) => one, victims);
  await storm.startMining();
  storm.startWorker();
  await until('the books have a block', async () => (await storm.ledger.finalBlock()) !== null, { explain });
}, LIMIT_MS);
afterAll(() => storm?.stop());

const explain = (): string => storm.said().split('\n').slice(-30).join('\n');

test(
  'after a storm of drains, kills, rollbacks and lying nodes the books equal the chain, and no innocent wallet has lost anything',
  async () => {
    const random = createRandom(chooseSeed(`storm of ${MATCHES} matches`));
    const deeds = createDeeds(storm, random);
    const faults = createFaults(storm, random);
    const nextDeed = inTurn(Object.values(deeds), random);
    const nextFault = inTurn(Object.values(faults), random);
    const present = guilty.slice(0, GUILTY);
    const refusals = new Map<string, number>();
    let replaced = 0;
    let kills = 0;
    let isOver = false;

    function terms(): Terms {
      const market = random.pick(storm.terms.slice(0, -1));
      const type = random.weighted({ GTC: 85, IOC: 8, FOK: 3, MARKET: 4 });
      const side = random.pick([0, 1] as const);
      const isBudget = type === 'MARKET' && side === 0;
      return {
        ...{ market, type, side, outcome: random.pick([0, 1] as const), pips: random.int(40, 60) * 100 },
        // Now and then an order meets many.
        lots: random.chance(0.05) ? random.int(2_000, 10_000) : random.int(1, 2_000),
        extraMicro: isBudget ? random.below(100) : 0,
      };
    }

    /** A refusal ends the attempt; a suspended wallet makes way for the next one. */
    async function place(one: Trader, of: Terms, nonce = 0): Promise<SettlementKey[]> {
      try {
        return await storm.place(one, of, nonce);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        refusals.set(error.code, (refusals.get(error.code) ?? 0) + 1);
        if (error.code === 'CANCEL_ONLY') await sleep(REST_MS);
        const at = present.indexOf(one as Guilty);
        const next = guilty[GUILTY + replaced];
        if (error.code === 'WALLET_SUSPENDED' && at >= 0 && next) {
          present[at] = next;
          replaced++;
        }
        return [];
      }
    }

    const placeAny = (): Promise<unknown> => {
      if (random.chance(0.5)) return place(random.pick(innocent), terms());
      const one = random.pick(present);
      return place(one, terms(), one.nonce);
    };

    /** Between the end of one worker and the start of the next a wallet spoils a match: it fails, whatever the seed. */
    async function kill(): Promise<void> {
      const [spoiler, victim] = [spoilers[kills], victims[kills]] as [Guilty, Trader];
      kills++;
      await storm.kill();
      // After this no block is taken back.
      await storm.pass(2);
      const market = storm.terms.at(-1) as Terms['market'];
      const shared = { market, type: 'GTC', outcome: 0, lots: 500, extraMicro: 0 } as const;
      await placeSurely(victim, { ...shared, side: 1, pips: 3_000 });
      const spoilt = await placeSurely(spoiler, { ...shared, side: 0, pips: 7_000 });
      expect(spoilt).toHaveLength(1);
      planted.push(...spoilt.map((key) => ({ key, failedWallet: spoiler.address.toLowerCase() })));
      await deeds.drain(spoiler, victim, 100);
      await storm.pass(2);
      storm.startWorker();
    }
    const planted: { key: SettlementKey; failedWallet: string }[] = [];

    /** When no block was final for half a minute, orders are refused until one is. */
    async function placeSurely(one: Trader, of: Terms): Promise<SettlementKey[]> {
      for (;;) {
        try {
          return await storm.place(one, of);
        } catch (error) {
          if (!(error instanceof Refusal && error.code === 'CANCEL_ONLY')) throw error;
          storm.startWorker();
          await until('the books follow', isFollowing, { explain });
          await storm.kill();
        }
      }
    }
    const isFollowing = async (): Promise<boolean> => {
      const before = (await storm.ledger.finalBlock())?.number ?? 0;
      await storm.pass(FINAL_BLOCKS);
      return ((await storm.ledger.finalBlock())?.number ?? 0) > before;
    };

    /** A block with many settlements is booked in parts, and in between an innocent wallet can do less than it may, never more. */
    async function isCovered(address: string): Promise<boolean> {
      const account = await storm.ledger.chainAccount(address.toLowerCase());
      const assets = account ? [account.collateral, ...account.tokens.flatMap(({ assets: two }) => two)] : [];
      return assets.every(({ heldMicro, reservedMicro, outMicro }) => heldMicro >= reservedMicro + outMicro);
    }

    async function watch(): Promise<void> {
      while (!isOver) {
        await storm.look();
        const { address } = random.pick(innocent);
        await until('an innocent wallet holds what it promised', () => isCovered(address), { explain });
        await sleep(LOOK_MS);
      }
    }

    async function run(): Promise<void> {
      for (let step = 0; storm.made.size < MATCHES && step < STEPS_MAX; step++) {
        const before = storm.made.size;
        if (storm.waiting.size > WAITING_MAX)
          await until('fewer matches wait', () => storm.waiting.size < WAITING_MAX / 2, { explain });
        if (kills < KILLS && storm.made.size > ((kills + 1) * MATCHES) / (KILLS + 1)) await kill();
        const what = random.weighted({ place: 70, deed: 15, fault: 3, heal: 12 });
        if (what === 'place') await Promise.all(Array.from({ length: AT_ONCE }, placeAny));
        if (what === 'deed') await nextDeed()(random.pick(present), random.pick([...innocent, ...present]));
        if (what === 'fault' || what === 'heal') storm.nodes.heal();
        if (what === 'fault') nextFault()();
        // So that all of it happens while matches are on their way.
        await sleep((storm.made.size - before) * PACE_MS);
      }
    }

    const watching = watch();
    watching.catch(() => undefined);
    try {
      await run();
      storm.nodes.heal();
      const left = (): string => `${[...storm.waiting.keys()].slice(0, 20).join(' ')}\n${explain()}`;
      await until('every settlement has ended', () => storm.waiting.size === 0, {
        patienceMs: END_MS,
        explain: left,
      });
    } finally {
      isOver = true;
      await watching;
    }
    expect(storm.made.size).toBeGreaterThanOrEqual(MATCHES);
    for (const { key, failedWallet } of planted)
      expect(await storm.settlements.find(key)).toMatchObject({
        ...{ settlementStatus: 'FAILED', failedWallet, failureReason: 'COLLATERAL' },
      });
    const everybody = { innocent: [...innocent, ...victims], guilty: [...guilty, ...spoilers] };
    for (const { address } of [...everybody.innocent, ...everybody.guilty])
      await storm.engine.cancelAll(address, {});
    await storm.pass(FINAL_BLOCKS);
    await until('no transaction is open', async () => (await storm.intents.list()).length === 0, { explain });
    await until('the books follow', isFollowing, { explain });
    tell(await checkAll(storm, everybody));
    tell(
      `${storm.orders.size} orders, ${replaced} wallets replaced, refusals ${JSON.stringify([...refusals])}`,
    );
    expect(await storm.redis.get(storm.keys.mode)).not.toBe(HALTED);
  },
  LIMIT_MS,
);
