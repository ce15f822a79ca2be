import { type Started, startScript } from '../support/processes';
import { tell } from '../support/telling';
import { until } from '../support/waiting';
import { type Settling, startSettling } from './settling';

/** Times that the worker that settles is killed. */
const KILLS = 2;

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

async function startWorker(): Promise<Started> {
  const worker = startScript("require('./src/worker.ts')", {
    NODE_ENV: 'test',
    REDIS_URL: world.server.url,
    PUBLIC_BASE_URL: 'https://exchange.test',
    LOG_LEVEL: 'info',
  });
  workers.push(worker);
  await until('a worker runs', () => worker.stdout().includes('worker is running'));
  return worker;
}

const records = (): Promise<number> => world.redis.hlen(world.keys.settlements);

test('a worker that waits settles when the one at work is killed', async () => {
  const market = await world.createMarket();
  let atWork = await startWorker();
  await world.match(market);
  await until('the first worker settles', async () => (await records()) === 1);
  for (let kill = 1; kill <= KILLS; kill++) {
    const waiting = await startWorker();
    atWork.child.kill('SIGKILL');
    await atWork.exited;
    const killedAt = performance.now();
    await world.match(market);
    await until('the successor settles', async () => (await records()) === 1 + kill);
    const seconds = (performance.now() - killedAt) / 1_000;
    // The target on a quiet machine is 3 s: a lease of 2 s, a look each 250 ms, and a job.
    tell(`the successor of a killed worker settled its first match after ${seconds.toFixed(1)} s`);
    atWork = waiting;
  }
  expect(await world.census([market])).toMatchObject({ fills: 1 + KILLS, missing: [] });
});
