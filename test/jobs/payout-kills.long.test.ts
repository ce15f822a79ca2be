import { Redis } from 'ioredis';
import type { OutcomeIndex } from '../../src/exchange/market';
import { lots, micro, pips } from '../../src/exchange/units';
import type { RunningRedis } from '../../src/local/redis';
import { decodeEvent } from '../../src/store/outbox/outbox';
import { readUInt } from '../../src/store/records/layout';
import { createKeys } from '../../src/store/redis/keys';
import { createScripts } from '../../src/store/redis/scripts';
import { createEngine, type Engine } from '../../src/store/verbs/engine';
import { PLAIN_TERMS } from '../support/engine-order';
import { type Started, startScript } from '../support/processes';
import { type Proxy as Network, startProxy } from '../support/proxy';
import { startTestRedis } from '../support/redis';
import { tell } from '../support/telling';
import { until } from '../support/waiting';

/**
 * Holders are paid while the paying worker is repeatedly killed with -9: the payouts equal the outstanding sets, and each
 * holder is paid once. `TEST_HOLDERS=10000 TEST_KILLS=5 npx jest test/jobs/payout-kills` is the full size.
 */
const HOLDERS = Number(process.env.TEST_HOLDERS ?? 2_000);
const PAID_MS = 240_000;
const KILLS = Number(process.env.TEST_KILLS ?? 4);
const GRANT = micro(1_000_000_000);
/** The delay of the worker's messages to and from Redis, so that it can be killed in the middle of its work. */
const DELAY_MS = 12;
const AT_ONCE = 200;
const keys = createKeys();

let server: RunningRedis;
let redis: Redis;
let proxy: Network;
let engine: Engine;
const workers: Started[] = [];

beforeAll(async () => {
  server = await startTestRedis();
  redis = new Redis(server.url);
  proxy = await startProxy(server.port);
  proxy.delay(DELAY_MS);
  engine = createEngine({ run: createScripts(redis), grantMicro: GRANT, makersMax: 500 });
});
afterAll(async () => {
  for (const { child } of workers) child.kill('SIGKILL');
  await Promise.all(workers.map(({ exited }) => exited));
  redis.disconnect();
  await proxy.stop();
  await server.stop();
});

async function startWorker(): Promise<Started> {
  const worker = startScript("require('./src/worker.ts')", {
    NODE_ENV: 'test',
    REDIS_URL: `redis://127.0.0.1:${proxy.port}`,
    PUBLIC_BASE_URL: 'https://exchange.test',
    LOG_LEVEL: 'info',
  });
  workers.push(worker);
  await until('a worker runs', () => worker.stdout().includes('worker is running'));
  return worker;
}

const addressOf = (i: number): string => `0x${(i + 1).toString(16).padStart(40, '0')}`;
const everybody = Array.from({ length: HOLDERS }, (_, i) => addressOf(i));

/** Every wallet has some sets and more of one outcome, or has sold it; some have resting orders. */
async function trade(market: string): Promise<void> {
  const inTurn = async (act: (i: number) => Promise<unknown>): Promise<void> => {
    for (let from = 0; from < HOLDERS; from += AT_ONCE) {
      const some = Math.min(AT_ONCE, HOLDERS - from);
      await Promise.all(Array.from({ length: some }, (_, i) => act(from + i)));
    }
  };
  await inTurn((i) => engine.convert(market, addressOf(i), micro(1_000_001 + 7 * i), `${market}${i}`));
  await inTurn((i) => place(market, i, i % 4 === 1 ? 1 : 0, i % 3 === 0 ? 0 : 1, 5_000, 1 + (i % 50)));
}

let serial = 0;
function place(
  marketId: string,
  who: number,
  side: 0 | 1,
  outcome: OutcomeIndex,
  price: number,
  size: number,
) {
  return engine.place({
    marketId,
    orderHash: `0x${(++serial).toString(16).padStart(64, '0')}`,
    maker: addressOf(who),
    order: { side, outcome, pricePips: pips(price), sizeLots: lots(size), budgetMicro: micro(0) },
    orderType: 'GTC',
    ...PLAIN_TERMS,
    feeRateBps: 100,
    signed: Buffer.alloc(80),
  });
}

/** Account -> collateral in all; tokens of the market, Yes and No. */
async function accounts(market: string) {
  const [cash, tokens] = await Promise.all([amounts(keys.cash, 2), amounts(keys.tokens(market), 4)]);
  const total = (who: string): number => (cash.get(who) ?? []).reduce((a, b) => a + b, 0);
  const held = (who: string): [number, number] => {
    const [a = 0, b = 0, c = 0, d = 0] = tokens.get(who) ?? [];
    return [a + b, c + d];
  };
  return { names: [...cash.keys()], total, held };
}

async function amounts(key: string, count: number): Promise<Map<string, number[]>> {
  const flat = (await redis.callBuffer('HGETALL', key)) as Buffer[];
  const found = new Map<string, number[]>();
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const [name, packed] = [flat[i] as Buffer, flat[i + 1] as Buffer];
    const who = name.length === 20 ? `0x${name.toString('hex')}` : name.toString();
    found.set(
      who,
      Array.from({ length: count }, (_, k) => readUInt(packed, 7 * k, 7)),
    );
  }
  return found;
}

const setsOf = async (market: string): Promise<number> =>
  readUInt((await redis.hgetBuffer(keys.market(market), 's')) ?? Buffer.alloc(37), 28, 7);

const unpaidIn = async (markets: readonly string[]): Promise<number> => {
  const counts = await Promise.all(markets.map((market) => redis.hlen(keys.tokens(market))));
  return counts.reduce((a, b) => a + b, 0);
};

/** Kills the worker whenever another part of the holders is paid. Returns the number of unpaid holders at each time. */
async function killInTheMiddle(markets: readonly string[]): Promise<number[]> {
  const unpaid: number[] = [];
  const begun = await unpaidIn(markets);
  for (let kill = 1; kill <= KILLS; kill++) {
    const worker = await startWorker();
    const threshold = begun * (1 - kill / (KILLS + 1));
    const giveUpAt = Date.now() + PAID_MS;
    // Without a pause, because a small market is paid in a moment.
    while ((await unpaidIn(markets)) > threshold)
      if (Date.now() > giveUpAt) throw new Error('nobody is paid');
    worker.child.kill('SIGKILL');
    await worker.exited;
    unpaid.push(await unpaidIn(markets));
  }
  return unpaid;
}

async function allPaid(): Promise<void> {
  await until('all paid', async () => (await redis.exists(keys.ending)) === 0, { patienceMs: PAID_MS });
}

/** The accounts with a reported payout, and the number of reports. */
async function tellings(market: string): Promise<Map<string, number[]>> {
  const told = new Map<string, number[]>();
  for (const [, [, packed]] of (await redis.xrangeBuffer(keys.outbox, '-', '+')) as unknown as [
    Buffer,
    [Buffer, Buffer],
  ][]) {
    const { marketId, wallets, moves } = decodeEvent(packed);
    if (marketId !== market) continue;
    for (const [i, { reason, collateralMicro }] of moves.entries()) {
      const who = wallets[i] ?? '';
      if (reason === 'REDEEM') told.set(who, [...(told.get(who) ?? []), collateralMicro]);
    }
  }
  return told;
}

type Before = Awaited<ReturnType<typeof accounts>>;

/** Checks that the payouts of a market equal its value, each reported once, and together the former sets. Returns the sum. */
async function check(market: string, outcome: OutcomeIndex | null, sets: number, before: Before, got: Gains) {
  const told = await tellings(market);
  let [paid, halves] = [0, 0];
  for (const who of everybody) {
    const [yes, no] = before.held(who);
    const due = outcome === null ? Math.floor((yes + no) / 2) : yes;
    if (outcome === null) halves += (yes + no) % 2;
    expect([who, told.get(who)]).toEqual([who, [due]]);
    got.set(who, (got.get(who) ?? 0) + due);
    paid += due;
  }
  const [yes, no] = before.held('fee');
  const fees = outcome === null ? (yes + no + halves) / 2 : yes;
  got.set('fee', (got.get('fee') ?? 0) + fees);
  expect(paid + fees).toBe(sets);
  expect(await redis.exists(keys.tokens(market))).toBe(0);
  expect(await setsOf(market)).toBe(0);
  // The exchange also holds the tokens that it received as fees.
  expect(await redis.hlen(keys.paid(market))).toBe(HOLDERS + 1);
}
type Gains = Map<string, number>;

test(`two markets of ${HOLDERS} holders are paid exactly once through ${KILLS} kills`, async () => {
  const ends = [
    ['payout00', 0],
    ['payout01', null],
  ] as const;
  const markets = ends.map(([market]) => market);
  for (const market of markets) {
    await engine.createMarket({ id: market, conditionId: `0x${market}`, slug: market }, '{}', 'OPEN');
    await trade(market);
  }
  const sets = await Promise.all(markets.map(setsOf));
  const before = await Promise.all(markets.map(accounts));
  for (const [market, outcome] of ends) await engine.resolveMarket(market, outcome);
  const startMs = Date.now();
  const unpaid = await killInTheMiddle(markets);
  await startWorker();
  await allPaid();
  const tookMs = Date.now() - startMs;

  // Each worker died in the middle, with less work left than the one before.
  expect(unpaid.every((left, i) => left > 0 && left < (unpaid[i - 1] ?? Number.POSITIVE_INFINITY))).toBe(
    true,
  );
  const gains: Gains = new Map();
  for (const [i, [market, outcome]] of ends.entries()) {
    await check(market, outcome, sets[i] ?? 0, before[i] as Before, gains);
  }
  const after = await accounts('payout00');
  for (const who of [...everybody, 'fee']) {
    expect([who, after.total(who) - (before[0]?.total(who) ?? 0)]).toEqual([who, gains.get(who)]);
  }
  const sum = sets.reduce((a, b) => a + b, 0) / 1e6;
  tell(`unpaid at each kill ${unpaid.join(', ')}: ${sum} paid in ${tookMs} ms`);
}, 600_000);
