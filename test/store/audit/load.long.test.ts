import { randomInt } from 'node:crypto';
import { Redis } from 'ioredis';
import { Refusal } from '../../../src/exchange/errors';
import type { Market } from '../../../src/exchange/facts';
import type { OutcomeIndex } from '../../../src/exchange/market';
import type { Side } from '../../../src/exchange/match';
import { chainScale } from '../../../src/exchange/order';
import { micro } from '../../../src/exchange/units';
import type { RunningRedis } from '../../../src/local/redis';
import { createKeys } from '../../../src/store/redis/keys';
import { createScripts } from '../../../src/store/redis/scripts';
import { createAudit } from '../../support/audit';
import { startTestRedis } from '../../support/redis';
import { sleep } from '../../support/waiting';
import { runWorld } from '../fuzzing/harness';
import { operationsOf, worldOf } from '../fuzzing/operations';
import { type Auditing, openAuditing, told } from './auditing';

let server: RunningRedis;
beforeEach(async () => {
  server = await startTestRedis();
});
afterEach(() => server.stop());

/** More of them by hand: `TEST_AUDITS=200 npx jest test/store/audit/load`. */
const AUDITS = Number(process.env.TEST_AUDITS ?? 8);
const ACTS_BEFORE = 1_500;
const TRADERS = 10;
const PAUSE_MS = 4;
/** On a slow machine a match waits for long until the dice settle it. */
const UNSETTLED_MS = 3_600_000;
/** A limit, so that a busy machine, on which an audit takes long, does not audit more and more. */
const ACTS_PER_AUDIT = 250;
/** Markets that are never resolved. */
const KEPT_OPEN = 3;

/** One random action of people or the worker; the engine may refuse it. */
async function act(exchange: Auditing, markets: readonly Market[]): Promise<void> {
  const { engine, wallets, place, split, settle } = exchange;
  const pick = <T>(list: readonly T[]): T => list[randomInt(list.length)] as T;
  // The later markets end, the earlier ones have the orders.
  const [market, wallet] = [pick(randomInt(2) ? markets : markets.slice(-KEPT_OPEN)), pick(wallets)];
  const dice = randomInt(100);
  if (dice < 70) {
    const expiration = randomInt(3) === 0 ? Math.ceil(Date.now() / 1000) + randomInt(1, 3) : 0;
    const [side, outcome] = [randomInt(2) as Side, randomInt(2) as OutcomeIndex];
    const { orderHash } = await place(
      market,
      wallet,
      side,
      outcome,
      randomInt(40, 61) * 100,
      randomInt(1, 900),
      expiration,
    );
    if (randomInt(3) === 0) await engine.cancel(null, wallet, orderHash, 'USER');
  } else if (dice < 85) await split(market, wallet, randomInt(-50, 100) * 10_000 || 10_000);
  else if (dice < 90) await engine.expire();
  else if (dice < 93) await engine.credit(wallet, micro(1_000_000));
  else if (dice < 95) {
    await engine.moveMarket(market.terms.id, 'PAUSED', ['OPEN']);
    await engine.moveMarket(market.terms.id, 'OPEN', ['PAUSED']);
  } else if (dice === 95 && markets.length > KEPT_OPEN) {
    await exchange.markets.resolve(market.terms.id, pick([0, 1, null]));
  } else await settle();
}

const unlessRefused = (error: unknown): void => {
  if (!(error instanceof Refusal)) throw error;
};

test(
  'the audit of a healthy exchange under load finds no difference',
  async () => {
    const exchange = openAuditing(server.url);
    const auditor = new Redis(server.url);
    let [isOver, acts, allowed] = [false, 0, ACTS_PER_AUDIT];
    let traders: Promise<unknown> = Promise.resolve();
    try {
      const markets = [await exchange.createMarket(), await exchange.createMarket(150)];
      for (const market of markets)
        for (const wallet of exchange.wallets) await exchange.split(market, wallet, 100_000_000_000);
      for (let i = 0; i < ACTS_BEFORE; i += 20)
        await Promise.all(Array.from({ length: 20 }, () => act(exchange, markets).catch(unlessRefused)));

      const trade = async (): Promise<void> => {
        while (!isOver) {
          await sleep(PAUSE_MS);
          if (acts >= allowed) continue;
          await act(exchange, markets).catch(unlessRefused);
          acts++;
          if (acts % 100 === 0) markets.push(await exchange.createMarket(acts % 300));
        }
      };
      traders = Promise.all(Array.from({ length: TRADERS }, trade));
      const run = createScripts(auditor);
      const scale = chainScale(18);
      const audit = createAudit({
        redis: auditor,
        run,
        keys: createKeys(),
        scale,
        settlementGraceMs: UNSETTLED_MS,
      });
      const during: number[] = [];
      for (let i = 0; i < AUDITS; i++) {
        const before = acts;
        allowed = acts + ACTS_PER_AUDIT;
        const report = await audit();
        during.push(acts - before);
        expect(told(report)).toEqual([]);
        expect(report.checked.orders).toBeGreaterThan(ACTS_BEFORE / 3);
      }
      expect(during.every((count) => count > 0)).toBe(true);
    } finally {
      isOver = true;
      await traders;
      auditor.disconnect();
      exchange.stop();
    }
  },
  300_000 + AUDITS * 30_000,
);

test('the audit of an exchange after the fuzz finds no difference', async () => {
  const redis = new Redis(server.url);
  try {
    const audit = createAudit({
      redis,
      run: createScripts(redis),
      keys: createKeys(),
      scale: chainScale(18),
    });
    for (const seed of [11, 12, 13]) {
      const world = worldOf(seed);
      await runWorld(world, operationsOf(world, 300), { redis });
      const { differences, checked } = await audit();
      // Its markets have neither documents nor a worker that settles.
      const others = differences.filter(({ kind }) => !/^(DOCUMENT|NAME|SETTLEMENT_MISSING)$/.test(kind));
      expect([seed, others]).toEqual([seed, []]);
      expect(checked.orders).toBeGreaterThan(50);
    }
  } finally {
    redis.disconnect();
  }
});
