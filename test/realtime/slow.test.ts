import { execFileSync } from 'node:child_process';
import { until } from '../support/processes';
import { type Listener, listen } from './listener';
import { type ChildReplica, type Market, place, type Stage, startStage, wait } from './support';

const LEVELS = 1_500;
const ASKED = 400;
/** What one such client may cost; the figures of a process rise and fall by themselves. */
const COST_MAX_MB = 30;
const NOISE_MB = 30;

let stage: Stage;
let replica: ChildReplica;
let market: Market;
beforeAll(async () => {
  stage = await startStage();
  replica = await stage.child();
  market = await stage.market(replica);
  for (let at = 0; at < LEVELS; at += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, i) => place(stage, market, { pips: 1 + at + i })));
  }
});
afterAll(() => stage.stop());

const memoryMb = (): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(replica.started.child.pid)]).toString()) / 1_024;

/** Takes nothing more off its connection. */
function stopReading({ socket }: Listener): void {
  (socket.io.engine.transport as unknown as { ws: { pause(): void } }).ws.pause();
}

test('a client that asks and does not read is dropped before it costs much, and others go on', async () => {
  const quick = await listen(replica.url);
  // So that what a first client needs is there.
  for (let i = 0; i < 20; i++) await quick.ask('subscribe', market.conditionId);
  const before = memoryMb();
  const slow = await listen(replica.url);
  stopReading(slow);
  for (let i = 0; i < ASKED; i++) slow.socket.emit('subscribe', market.conditionId);
  let most = before;
  await until('it is dropped', () => {
    most = Math.max(most, memoryMb());
    return replica.started.stdout().includes('a slow socket was disconnected');
  });
  expect(most - before).toBeLessThan(COST_MAX_MB + NOISE_MB);
  const heard = quick.all('orderbook:update').length;
  await place(stage, market);
  await quick.heard('orderbook:update', heard + 1);
  slow.close();
  quick.close();
}, 60_000);

test('the same of one that only listens', async () => {
  const [quick, slow] = [await listen(replica.url), await listen(replica.url)];
  for (const one of [quick, slow]) await one.ask('subscribe', market.conditionId);
  const drops = () => replica.started.stdout().match(/a slow socket was disconnected/g)?.length ?? 0;
  const known = drops();
  stopReading(slow);
  const before = memoryMb();
  let most = before;
  // Every update changes a thousand levels; what the kernels take for a client is a few megabytes.
  for (let turn = 0; turn < 400 && drops() === known; turn++) {
    for (let at = 0; at < 1_000; at += 250) {
      await Promise.all(Array.from({ length: 250 }, (_, i) => place(stage, market, { pips: 1 + at + i })));
    }
    most = Math.max(most, memoryMb());
    await wait(5);
  }
  expect(drops()).toBe(known + 1);
  expect(most - before).toBeLessThan(COST_MAX_MB + NOISE_MB);
  expect(quick.ended()).toBeNull();
  slow.close();
  quick.close();
}, 90_000);
