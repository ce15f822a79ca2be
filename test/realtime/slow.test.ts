import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { until } from '../support/processes';
import { type Listener, listen } from './listener';
import { type ChildReplica, type Market, place, type Stage, startStage, wait } from './support';

const LEVELS = 1_500;
const ASKED = 400;
/** More than the kernels take for a client and the bound together. */
const UPDATES_MAX = 40_000;
/** What one such client may cost; the figures of a process rise and fall by themselves. */
const COST_MAX_MB = 30;
const NOISE_MB = 30;

let stage: Stage;
let replica: ChildReplica;
let market: Market;
beforeAll(async () => {
  stage = await startStage({ BROADCAST_INTERVAL_MS: '0' });
  replica = await stage.child();
  market = await stage.market(replica);
  for (let at = 0; at < LEVELS; at += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, i) => place(stage, market, { pips: 1 + at + i })));
  }
});
afterAll(() => stage.stop());

/** What the replica holds of the machine's memory. */
function memoryMb(): number {
  const { pid } = replica.started.child;
  const status = `/proc/${pid}/status`;
  const kilobytes = existsSync(status)
    ? /^VmRSS:\s+(\d+)/m.exec(readFileSync(status, 'utf8'))?.[1]
    : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]).toString();
  return Number(kilobytes) / 1_024;
}

interface WebSocketOfClient {
  pause(): void;
  terminate(): void;
}

const webSocketOf = ({ socket }: Listener): WebSocketOfClient =>
  (socket.io.engine.transport as unknown as { ws: WebSocketOfClient }).ws;

test('a client that asks and does not read costs little, and others go on', async () => {
  const quick = await listen(replica.url);
  // So that what a first client needs is there.
  for (let i = 0; i < 20; i++) await quick.ask('subscribe', market.conditionId);
  const before = memoryMb();
  const slow = await listen(replica.url);
  webSocketOf(slow).pause();
  for (let i = 0; i < ASKED; i++) slow.socket.emit('subscribe', market.conditionId);
  let most = before;
  for (let turn = 0; turn < 20; turn++) {
    await wait(100);
    most = Math.max(most, memoryMb());
  }
  expect(most - before).toBeLessThan(COST_MAX_MB + NOISE_MB);
  const heard = quick.all('orderbook:update').length;
  await place(stage, market);
  await quick.heard('orderbook:update', heard + 1);
  webSocketOf(slow).terminate();
  quick.close();
}, 60_000);

test('a client that listens and does not read is dropped before it costs much, and others go on', async () => {
  const [quick, slow] = [await listen(replica.url), await listen(replica.url)];
  for (const one of [quick, slow]) await one.ask('subscribe', market.conditionId);
  webSocketOf(slow).pause();
  const isDropped = () => replica.started.stdout().includes('a slow socket was disconnected');
  const before = memoryMb();
  let most = before;
  let placed = 0;
  for (; placed < UPDATES_MAX && !isDropped(); placed += 500) {
    await Promise.all(Array.from({ length: 500 }, (_, i) => place(stage, market, { pips: 1 + i })));
    most = Math.max(most, memoryMb());
  }
  await until('it is dropped', isDropped);
  expect(most - before).toBeLessThan(COST_MAX_MB + NOISE_MB);
  await until('the other has everything', () => quick.all('orderbook:update').length === placed);
  expect(quick.ended()).toBeNull();
  webSocketOf(slow).terminate();
  quick.close();
}, 60_000);
