import { Refusal } from '../../../src/exchange/errors';
import { MODES } from '../../../src/exchange/status';
import type { SettlementKey } from '../../../src/store/records/settlement';
import { createRandom } from '../../support/random';
import { chooseSeed, tell } from '../../support/telling';
import { sleep, until } from '../../support/waiting';
import { checkFunds } from './checker';
import { startSampler } from './checker-sampler';
import { CONTRACT_KINDS } from './storm-contracts';
import { summaryOf } from './storm-summary';
import { createDeeds, createFaults, type Guilty, guiltyOf, inTurn } from './storm-trouble';
import { type StormTrader, type StormWorld, startStormWorld, type Terms } from './storm-world';
import { ONE } from './world';

/**
 * Wallets place random orders that cross, in markets with several fees, and some of them move their funds away, withdraw
 * approvals, cancel or raise their nonce on the chain, or refuse their own signatures, as contracts may. Meanwhile nodes misbehave,
 * blocks are taken back or replaced, the chain makes no blocks, a lane has no gas, and workers are killed. In the end the checker
 * finds nothing: the books equal the chain in every account, and only those who spoilt a match have lost anything by it.
 *
 * With STORM_MINUTES the storm lasts that time, with two workers, of which one is killed every twelve seconds, and with a
 * Redis that is killed each third of the time.
 */
const MINUTES = Number(process.env.STORM_MINUTES ?? 0);
const MATCHES = MINUTES > 0 ? Number.POSITIVE_INFINITY : Number(process.env.STORM_MATCHES ?? 300);
const WORKERS = MINUTES > 0 ? 2 : 1;
const KILL_EVERY_MS = 12_000;
/** One in this number of kills ends all workers, with a match that is spoilt before others start. */
const PLANTED_EVERY = 5;
const REDIS_KILLS = MINUTES > 0 ? 2 : 0;
const REDIS_AWAY_MS = 1_000;
/** For each market; in the last one only the planted matches are made. */
const FEE_RATES = [0, 37, 200, 100];
const INNOCENT = 6;
/** At a time; one that is suspended makes way for another. */
const GUILTY = 8;
/** The kinds of guilty wallets. */
const KINDS = ['key', ...CONTRACT_KINDS] as const;
const REPLACEMENTS = MINUTES > 0 ? 12 * MINUTES : Math.ceil(MATCHES / 50);
/** Matches planted for all workers together. */
const PLANTED =
  MINUTES > 0
    ? Math.ceil((MINUTES * 60_000) / KILL_EVERY_MS / PLANTED_EVERY)
    : 2 + Math.floor(MATCHES / 2_000);
const CASH = 3_000n * ONE;
const SETS = 1_000n * ONE;
const WAITING_MAX = MINUTES > 0 ? 150 : 400;
/** The guilty wallets that the sampler looks at: those of the beginning, and their first replacements. */
const SAMPLED = 3 * GUILTY;
const REST_MS = 100;
const PACE_MS = 40;
/** Orders on their way to Redis, and wallets that get funds. */
const AT_ONCE = 4;
const HALTED = String(MODES.indexOf('HALTED'));
const LOOK_MS = 250;
const FINAL_BLOCKS = 6;
/** A busy machine is late with everything at once: nodes, books and workers. */
const PATIENCE_MS = 300_000;
const LIMIT_MS = 3_600_000;

let storm: StormWorld;
let fundedAt = 0;
const innocent: StormTrader[] = [];
const guilty: Guilty[] = [];
/** One of each for every kill: they meet once. */
const spoilers: Guilty[] = [];
const victims: StormTrader[] = [];

async function people<T>(
  count: number,
  of: (trader: StormTrader) => T,
  into: T[],
  kinds: readonly (typeof KINDS)[number][] = ['key'],
): Promise<void> {
  for (let made = 0; made < count; made += AT_ONCE) {
    const some = Array.from({ length: Math.min(count - made, AT_ONCE) }, (_, i) =>
      storm.trader(CASH, SETS, kinds[(made + i) % kinds.length]),
    );
    into.push(...(await Promise.all(some)).map(of));
  }
}

beforeAll(async () => {
  storm = await startStormWorld(FEE_RATES);
  await people(INNOCENT, (one) => one, innocent);
  await people(GUILTY + REPLACEMENTS, guiltyOf, guilty, KINDS);
  await people(PLANTED, guiltyOf, spoilers);
  await people(PLANTED, (one) => one, victims);
  fundedAt = Number(await storm.world.chain.ask('eth_blockNumber'));
  await storm.miner.start();
  startWorkers();
  await until('the books have a block', async () => (await storm.ledger.finalBlock()) !== null, patiently);
}, LIMIT_MS);
afterAll(() => storm?.stop());

function startWorkers(): void {
  while (storm.workers.count() < WORKERS) storm.workers.start();
}
const explain = (): string => storm.workers.said().split('\n').slice(-30).join('\n');
const patiently = { explain, patienceMs: PATIENCE_MS };

test(
  'after a storm of drains, kills, rollbacks and lying nodes the books equal the chain, and no innocent wallet has lost anything',
  async () => {
    const random = createRandom(
      chooseSeed(MINUTES > 0 ? `storm of ${MINUTES} minutes` : `storm of ${MATCHES} matches`),
    );
    const { change, ...deeds } = createDeeds(storm, random);
    const faults = createFaults(storm, random);
    const nextDeed = inTurn(Object.values(deeds), random);
    const nextFault = inTurn(Object.values(faults), random);
    const present = guilty.slice(0, GUILTY);
    const refusals = new Map<string, number>();
    let replaced = 0;
    let [kills, killTurn, redisKills] = [0, 0, 0];
    let isOver = false;

    function terms(): Terms {
      const market = random.pick(storm.terms.slice(0, -1));
      const type = random.weighted({ GTC: 85, IOC: 8, FOK: 3, MARKET: 4 });
      const side = random.pick([0, 1] as const);
      const isBudget = type === 'MARKET' && side === 0;
      return {
        market,
        type,
        side,
        outcome: random.pick([0, 1] as const),
        pips: random.int(40, 60) * 100,
        // Now and then an order meets many.
        lots: random.chance(0.05) ? random.int(2_000, 10_000) : random.int(1, 2_000),
        extraMicro: isBudget ? random.below(100) : 0,
      };
    }

    /** A refusal ends the attempt; a suspended wallet makes way for the next one. */
    async function place(one: StormTrader, of: Terms, nonce = 0): Promise<SettlementKey[]> {
      try {
        return await storm.place(one, of, nonce);
      } catch (error) {
        if (!(error instanceof Refusal)) return lostOrder(error);
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

    /** Redis was killed meanwhile: whether the order was booked, only the API knows. */
    function lostOrder(error: unknown): [] {
      if (redisKills === 0) throw error;
      refusals.set('no answer', (refusals.get('no answer') ?? 0) + 1);
      return [];
    }

    const placeAny = (): Promise<unknown> => {
      if (random.chance(0.5)) return place(random.pick(innocent), terms());
      const one = random.pick(present);
      return place(one, terms(), one.nonce);
    };

    /** A wallet spoils a match while no worker runs, in a block that no rollback reaches: the match fails, whatever the seed. */
    async function spoil(): Promise<void> {
      const [spoiler, victim] = [spoilers[planted.length], victims[planted.length]] as [Guilty, StormTrader];
      kills += storm.workers.count();
      await storm.workers.killAll();
      // After this no block is taken back.
      await storm.miner.pass(2);
      const market = storm.terms.at(-1) as Terms['market'];
      const shared = { market, type: 'GTC', outcome: 0, lots: 500, extraMicro: 0 } as const;
      await placeSurely(victim, { ...shared, side: 1, pips: 3_000 });
      const spoilt = await placeSurely(spoiler, { ...shared, side: 0, pips: 7_000 });
      expect(spoilt).toHaveLength(1);
      planted.push(...spoilt.map((key) => ({ key, failedWallet: spoiler.address.toLowerCase() })));
      await deeds.drain(spoiler, victim, 100);
      await storm.miner.pass(4);
      startWorkers();
    }
    const planted: { key: SettlementKey; failedWallet: string }[] = [];

    /** When no block was final for half a minute, orders are refused until one is. */
    async function placeSurely(one: StormTrader, of: Terms): Promise<SettlementKey[]> {
      for (;;) {
        try {
          return await storm.place(one, of);
        } catch (error) {
          if (!(error instanceof Refusal && error.code === 'CANCEL_ONLY')) throw error;
          startWorkers();
          await until('the books follow', isFollowing, patiently);
          await storm.workers.killAll();
        }
      }
    }
    const isFollowing = async (): Promise<boolean> => {
      const before = (await storm.ledger.finalBlock())?.number ?? 0;
      await storm.miner.pass(FINAL_BLOCKS);
      return ((await storm.ledger.finalBlock())?.number ?? 0) > before;
    };

    async function watch(): Promise<void> {
      while (!isOver) {
        await storm.look().catch(lostOrder);
        await sleep(LOOK_MS);
      }
    }

    const began = performance.now();
    const isDone = (): boolean =>
      MINUTES > 0 ? performance.now() - began > MINUTES * 60_000 : storm.made.size >= MATCHES;

    async function kill(): Promise<void> {
      const turn = MINUTES > 0 ? Math.floor((performance.now() - began) / KILL_EVERY_MS) : 0;
      const isDue = storm.made.size > ((planted.length + 1) * MATCHES) / (PLANTED + 1);
      if (turn === killTurn && !isDue) return;
      killTurn = turn;
      tell(
        `${storm.made.size} matches, ${storm.waiting.size} wait, ${kills} kills, ${sampler.samples()} samples`,
      );
      await storm.heal();
      if (isDue || turn % PLANTED_EVERY === 0) return spoil();
      kills++;
      await storm.workers.killOne(random.below(storm.workers.count()));
      startWorkers();
    }

    async function killRedis(): Promise<void> {
      const due = (redisKills + 1) * ((MINUTES * 60_000) / (REDIS_KILLS + 1));
      if (redisKills >= REDIS_KILLS || performance.now() - began < due) return;
      redisKills++;
      await storm.server.kill();
      await sleep(REDIS_AWAY_MS);
      await storm.server.revive();
      await until('the test is connected again', () => storm.redis.status === 'ready');
    }

    async function run(): Promise<void> {
      while (!isDone()) {
        const before = storm.made.size;
        if (storm.waiting.size > WAITING_MAX) {
          await storm.heal();
          await until('fewer matches wait', () => storm.waiting.size < WAITING_MAX / 2, patiently);
        }
        await kill();
        await killRedis();
        const what = random.weighted({ place: 70, deed: 15, fault: 3, heal: 12 });
        if (what === 'place') await Promise.all(Array.from({ length: AT_ONCE }, placeAny));
        if (what === 'deed') {
          const [one, other] = [random.pick(present), random.pick([...innocent, ...present])];
          await (one.contract && random.chance(0.5) ? change(one) : nextDeed()(one, other));
        }
        if (what === 'fault' || what === 'heal') await storm.heal();
        if (what === 'fault') await nextFault()();
        // So that all of it happens while matches are on their way.
        await sleep((storm.made.size - before) * PACE_MS);
      }
    }

    const checked = {
      ...storm.checked([...innocent, ...victims, ...guilty, ...spoilers]),
      fromBlock: fundedAt,
    };
    // A contract signs in with the help of nodes, which lie now and then.
    const seen = [...innocent, ...victims, ...guilty.slice(0, SAMPLED)].filter(({ contract }) => !contract);
    const sampler = await startSampler({ ...checked, wallets: storm.checked(seen).wallets });
    const watching = watch();
    watching.catch(() => undefined);
    try {
      await run();
      await storm.heal();
      const left = (): string => `${[...storm.waiting.keys()].slice(0, 20).join(' ')}\n${explain()}`;
      await until('every settlement has ended', () => storm.waiting.size === 0, {
        patienceMs: PATIENCE_MS,
        explain: left,
      });
    } finally {
      isOver = true;
      await watching;
    }
    if (MINUTES === 0) expect(storm.made.size).toBeGreaterThanOrEqual(MATCHES);
    for (const { key, failedWallet } of planted)
      expect(await storm.settlements.find(key)).toMatchObject({
        settlementStatus: 'FAILED',
        failedWallet,
        failureReason: 'COLLATERAL',
      });
    for (const { address, contract } of [...innocent, ...victims, ...guilty, ...spoilers]) {
      await storm.engine.cancelAll(address, {});
      await contract?.appease();
    }
    await storm.miner.pass(FINAL_BLOCKS);
    await until('no transaction is open', async () => (await storm.intents.list()).length === 0, patiently);
    await until('the books follow', isFollowing, patiently);
    const violations = [...(await sampler.stop()), ...(await checkFunds(checked))];
    tell(await summaryOf(checked, guilty));
    tell(
      `${kills} kills of workers, ${redisKills} of Redis, ${sampler.samples()} samples, ${storm.orders.size} orders, ${replaced} wallets replaced, refusals ${JSON.stringify([...refusals])}`,
    );
    expect(violations).toEqual([]);
    expect(await storm.redis.get(storm.keys.mode)).not.toBe(HALTED);
  },
  LIMIT_MS,
);
