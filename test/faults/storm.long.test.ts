import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createFullDisk, type FullDisk } from '../support/full-disk';
import { createRandom } from '../support/random';
import { tell } from '../support/telling';
import { sleep, until } from '../support/waiting';
import { ANSWER_MS } from './asking';
import { FAULTS, type FaultName } from './catalogue';
import { violationsOf } from './invariants';
import { isBusy, slowestMs, startLoad } from './load';
import { createOrderSockets } from './order-sockets';
import { createRedisClock, type RedisClock } from './redis-clock';
import { startTradingFleet, type TradingFleet } from './trading-fleet';

/**
 * Trading continues through one fault after another, by a schedule that the seed repeats; then all promises are checked from
 * outside. FAULT_SEED and FAULT_SECONDS choose another storm; FAULT_ONLY names faults, separated by commas.
 */
const SEED = Number(process.env.FAULT_SEED ?? 7);
const SECONDS = Number(process.env.FAULT_SECONDS ?? 60);
const ONLY = (process.env.FAULT_ONLY ?? '').split(',').filter((name) => name !== '');
/** A storm of less than a minute leaves out the long faults. */
const SHORT: readonly FaultName[] = [
  'kill -9 of Redis',
  'SCRIPT FLUSH',
  'cut connections',
  'replies lost after the script ran',
  'out of memory',
  'kill -9 of the worker',
  'busy',
  'poison jobs',
  'clock step of a process',
  'clock step of Redis',
  'read-only',
  'full disk',
];
/** A storm of a minute meets at least this many. */
const DIFFERENT_MIN = 12;
const ACCEPTED_MIN = 50;
const TRADES_MIN = 10;
/** The storm lasts until there was enough of everything, but not for longer than this. */
const STORM_MS_MAX = 200_000 + SECONDS * 1_000;
const LANES = 6;
const PAUSE_MS = 5;
const SUBMISSIONS_MAX = 30_000;
const LONG_SECONDS = 60;
/** Share of the order requests that go over the socket while one is connected. */
const SOCKET_SHARE = 0.5;

const folder = mkdtempSync(path.join(tmpdir(), 'exchange-faults-'));
const clockFiles = ['web', 'worker'].map((name) => path.join(folder, name));
let disk: FullDisk | null = null;
let clock: RedisClock | null = null;
let stage: TradingFleet;
beforeAll(async () => {
  for (const file of clockFiles) writeFileSync(file, '0');
  if (process.platform === 'linux') disk = await createFullDisk();
  if (disk) clock = createRedisClock();
  if (!clock) tell('  the clock of Redis is not moved: that needs Linux and a C compiler');
  stage = await startTradingFleet({
    seed: `storm ${SEED}`,
    ...(disk && { redis: { env: { ...disk.env, ...clock?.env } } }),
    clockFile: (name, number) =>
      name === 'worker' ? clockFiles[1] : number === 1 ? clockFiles[0] : undefined,
  });
});
afterAll(async () => {
  await stage?.stop();
  disk?.remove();
  clock?.remove();
  rmSync(folder, { recursive: true });
});

/** Faults in the seed's order, each once before any is repeated. */
function schedule(): () => FaultName {
  const random = createRandom(SEED);
  const chosen = (
    ONLY.length > 0 ? ONLY : SECONDS < LONG_SECONDS ? SHORT : Object.keys(FAULTS)
  ) as FaultName[];
  const isPossible = (name: FaultName): boolean =>
    (disk !== null || name !== 'full disk') && (clock !== null || name !== 'clock step of Redis');
  const names = chosen.filter(isPossible);
  let left: FaultName[] = [];
  return () => {
    if (left.length === 0) left = [...names];
    return left.splice(random.below(left.length), 1)[0] as FaultName;
  };
}

test(`a storm of ${SECONDS} s violates no invariant, seed ${SEED}`, async () => {
  const { journal, markets, people, client } = stage;
  const sockets = createOrderSockets();
  const ways = createRandom(SEED + 2);
  const load = startLoad(journal, {
    random: createRandom(SEED + 1),
    markets,
    people,
    client,
    wayIn: (person, at) => (ways.next() < SOCKET_SHARE ? sockets.clientOf(person, at) : at),
    lanes: LANES,
    most: SUBMISSIONS_MAX,
    pauseMs: PAUSE_MS,
  });
  const next = schedule();
  const told: string[] = [];
  const seen: { readonly name: FaultName; readonly from: number; readonly to: number }[] = [];
  const startedAt = Date.now();
  const meetsMany = SECONDS >= LONG_SECONDS && ONLY.length === 0;
  const isEnough = (): boolean =>
    (!meetsMany || new Set(seen.map(({ name }) => name)).size >= DIFFERENT_MIN) &&
    isBusy(journal, { accepted: ACCEPTED_MIN, traded: TRADES_MIN });
  for (let ms = 0; ms < SECONDS * 1_000 || (!isEnough() && ms < STORM_MS_MAX); ms = Date.now() - startedAt) {
    await sleep(300);
    const name = next();
    told.push(`${((Date.now() - startedAt) / 1_000).toFixed(1)} s ${name}`);
    const from = performance.now();
    await FAULTS[name]({ stage, random: createRandom(SEED + told.length), clockFiles, disk, clock });
    seen.push({ name, from, to: performance.now() });
  }
  const isWell = async (): Promise<boolean> =>
    (
      await Promise.all(stage.fleet.webs.map(async (web) => (await web.client.get('/readyz')).status === 200))
    ).every((ready) => ready);
  await until('the exchange is well again', () => isWell().catch(() => false));
  await load.stop();
  sockets.close();
  const evidence = await stage.evidence();
  const slowest = new Map<FaultName, number>();
  for (const { name, from, to } of seen)
    slowest.set(name, Math.max(slowest.get(name) ?? 0, slowestMs(journal, from, to)));
  const accepted = journal.submissions.filter((one) => one.accepted.length > 0).length;
  const trades = evidence.markets.reduce((sum, market) => sum + market.trades.length, 0);
  tell(
    `storm of seed ${SEED}: ${told.join(', ')}\n  ${journal.submissions.length} orders, ${accepted} accepted, ${trades} trades, ` +
      `${journal.answers} answers, ${journal.unavailable} of them 503, ${journal.lost} connections lost, ${sockets.answers()} answers over sockets\n` +
      `  ${slowest.size} different faults, slowest answer in each: ${[...slowest].map(([name, ms]) => `${name} ${Math.round(ms)} ms`).join(', ')}`,
  );
  expect(violationsOf(evidence).slice(0, 20)).toEqual([]);
  expect(journal.wrong).toEqual([]);
  expect(slowestMs(journal)).toBeLessThan(ANSWER_MS);
  if (meetsMany) expect(slowest.size).toBeGreaterThanOrEqual(DIFFERENT_MIN);
  expect(accepted).toBeGreaterThan(ACCEPTED_MIN);
  expect(trades).toBeGreaterThan(TRADES_MIN);
  expect(sockets.answers()).toBeGreaterThan(ACCEPTED_MIN / 4);
  expect(stage.fleet.logs()).not.toContain('INTERNAL');
}, 600_000);
