import type { Market } from '../../src/exchange/facts';
import { type Started, startScript } from '../support/processes';
import { tell } from '../support/telling';
import { sleep, until } from '../support/waiting';
import { type Settling, startSettling } from './settling';

/**
 * Real worker processes are killed with -9 while matches settle, and every key of BullMQ is deleted once: every fill is
 * settled exactly once. TEST_FILLS and TEST_KILLS make it longer.
 */
const FILLS = Number(process.env.TEST_FILLS ?? 6_000);
const KILLS = Number(process.env.TEST_KILLS ?? 4);
const WORKERS = 2;
/** In flight at a time. */
const AT_ONCE = 32;
/** Long enough for a reconciliation, which runs every 30 s, to find the matches of the deleted keys. */
const PATIENCE_MS = 240_000;

let world: Settling;
const workers: Started[] = [];
beforeAll(async () => {
  world = await startSettling();
});
afterAll(async () => {
  for (const { child } of workers) child.kill('SIGKILL');
  await Promise.all(workers.map(({ exited }) => exited));
  await world.stop();
});

function startWorker(): void {
  const worker = startScript("require('./src/worker.ts')", {
    NODE_ENV: 'test',
    REDIS_URL: world.server.url,
    PUBLIC_BASE_URL: 'https://exchange.test',
    LOG_LEVEL: 'info',
  });
  workers.push(worker);
}

const isRunning = ({ child, stdout }: Started): boolean =>
  child.signalCode === null && child.exitCode === null && stdout().includes('worker is running');

async function twoRunning(): Promise<void> {
  await until('two workers run', () => workers.filter(isRunning).length >= WORKERS);
}

/** During the next fills. */
async function killLater(): Promise<void> {
  await sleep(Math.random() * 60);
  const [victim] = workers.filter(isRunning);
  victim?.child.kill('SIGKILL');
  await victim?.exited;
  startWorker();
}

/** Runs `act` after each share of the fills, and waits for it. */
async function makeFills(
  markets: readonly Market[],
  count: number,
  shares: number,
  act: () => Promise<void>,
) {
  let gate = Promise.resolve();
  let made = 0;
  let share = 1;
  const lane = async (): Promise<void> => {
    while (made < count) {
      const makers = made % 500 === 0 ? 60 : 1 + Math.floor(Math.random() * 3);
      made += makers;
      await gate;
      await world.match(markets[made % markets.length] as Market, makers);
      if (made >= (share * count) / (shares + 1) && share <= shares) {
        share++;
        gate = act();
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

test(`${FILLS} fills are settled once through ${KILLS} killed workers`, async () => {
  const markets = await Promise.all([world.createMarket(), world.createMarket(100), world.createMarket()]);
  for (let i = 0; i < WORKERS; i++) startWorker();
  await twoRunning();
  const start = Date.now();
  const kills: Promise<void>[] = [];
  await makeFills(markets, FILLS, KILLS, async () => {
    // Two kills at once would choose the same worker.
    await Promise.all(kills);
    await twoRunning();
    kills.push(killLater());
  });
  await Promise.all(kills);
  const madeMs = Date.now() - start;
  const drainedMs = await world.drained(world.made.records, PATIENCE_MS);
  const census = await world.census(markets);
  const { parts } = census;
  expect(census).toEqual({
    fills: census.fills,
    parts,
    missing: [],
    records: parts,
    listed: parts,
    told: parts,
  });
  expect(census.fills).toBeGreaterThanOrEqual(FILLS);
  expect(workers.filter(({ child }) => child.signalCode === 'SIGKILL').length).toBe(KILLS);
  tell(
    `${census.fills} fills in ${madeMs} ms, ${parts} records, ${KILLS} kills: drained ${drainedMs} ms after the last fill`,
  );
}, 600_000);

test('every fill is settled after all keys of BullMQ were lost', async () => {
  const market = await world.createMarket();
  await twoRunning();
  const before = await world.redis.hlen(world.keys.settlements);
  await makeFills([market], FILLS / 3, 1, wipe);
  await world.drained(world.made.records, PATIENCE_MS);
  const { parts } = await world.census([market]);
  expect(await world.census([market])).toMatchObject({
    missing: [],
    records: before + parts,
    listed: before + parts,
  });
  // The chores continue, too: the outbox is still read and trimmed, and later matches are settled.
  await world.match(market);
  await world.drained(world.made.records, PATIENCE_MS);
  expect((await world.census([market])).missing).toEqual([]);
}, 600_000);

async function wipe(): Promise<void> {
  const found = await world.redis.keys('{jobs}*');
  expect(found.length).toBeGreaterThan(0);
  await world.redis.del(...found);
}
