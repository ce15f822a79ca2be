import { place } from '../support/engine-order';
import { type Listener, listen } from '../support/listener';
import { tell } from '../support/telling';
import type { OpenMarket } from '../support/trader';
import { sleep, until } from '../support/waiting';
import { type ReplicaProcess, startWebReplicas, type WebReplicas } from '../support/web-replicas';

const LEVELS = 1_500;
const ASKED = 400;
/** More than kernels buffer for a client and the bound together; it is over when the client is dropped. */
const UPDATES_MAX = 200_000;
/** Enough on a machine on which twenty processes wait for their turn. */
const STORY_MS_MAX = 1_200_000;
/** The number of updates without such a client, for comparison. */
const UPDATES_WITHOUT = 2_000;
/** The allowed cost of one such client. */
const COST_MAX_MB = 30;

let exchange: WebReplicas;
let replica: ReplicaProcess;
let market: OpenMarket;
beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 0, durable: true, env: { BROADCAST_INTERVAL_MS: '0' } });
  replica = await exchange.replicaProcess(['--expose-gc', '-r', './test/realtime/memory-gauge.js']);
  market = await exchange.market(replica);
  for (let at = 0; at < LEVELS; at += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, i) => place(exchange, market, { pips: 1 + at + i })));
  }
});
afterAll(() => exchange.stop());

/** The memory of the replica, without garbage. */
async function heldMb(): Promise<number> {
  const { child, stdout } = replica.started;
  const said = (): string[] => stdout().match(/"heldBytes":\d+/g) ?? [];
  const before = said().length;
  child.kill('SIGUSR2');
  await until('the gauge is read', () => said().length > before);
  return Number(said().at(-1)?.split(':')[1]) / 1e6;
}

interface WebSocketOfClient {
  pause(): void;
  terminate(): void;
}

const webSocketOf = ({ socket }: Listener): WebSocketOfClient =>
  (socket.io.engine.transport as unknown as { ws: WebSocketOfClient }).ws;

test('a client that sends requests and does not read costs little, and others are not affected', async () => {
  const quick = await listen(replica.url);
  // Allocates what a first client needs.
  for (let i = 0; i < 20; i++) await quick.ask('subscribe', market.conditionId);
  const before = await heldMb();
  const slow = await listen(replica.url);
  webSocketOf(slow).pause();
  for (let i = 0; i < ASKED; i++) slow.socket.emit('subscribe', market.conditionId);
  let most = before;
  for (let turn = 0; turn < 20; turn++) {
    await sleep(50);
    most = Math.max(most, await heldMb());
  }
  const heard = quick.all('orderbook:update').length;
  await place(exchange, market);
  await quick.heard('orderbook:update', heard + 1);
  webSocketOf(slow).terminate();
  quick.close();
  tell(`a client that asks and does not read: ${(most - before).toFixed(1)} MB`);
  expect(most - before).toBeLessThan(COST_MAX_MB);
});

test(
  'a client that listens and does not read is disconnected before it costs much, and others are not affected',
  async () => {
    const quick = await listen(replica.url);
    await quick.ask('subscribe', market.conditionId);
    let placed = 0;
    /** The largest memory in use while updates are sent. */
    const updates = async (count: number, isOver = async () => false): Promise<number> => {
      let most = 0;
      for (const end = placed + count; placed < end && !(await isOver()); placed += 500) {
        await Promise.all(Array.from({ length: 500 }, (_, i) => place(exchange, market, { pips: 1 + i })));
        most = Math.max(most, await heldMb());
      }
      return most;
    };
    const without = await updates(UPDATES_WITHOUT);
    const slow = await listen(replica.url);
    await slow.ask('subscribe', market.conditionId);
    webSocketOf(slow).pause();
    const sockets = async (): Promise<number> => {
      const { text } = await replica.client.get('/metrics');
      return Number(/^exchange_sockets (\d+)$/m.exec(text)?.[1]);
    };
    const socketsBefore = await sockets();
    // By the bound of unsent bytes, or on a slow machine before that because it answers no ping.
    const isDropped = async (): Promise<boolean> => (await sockets()) < socketsBefore;
    const most = await updates(UPDATES_MAX, isDropped);
    await until('it is dropped', isDropped);
    const { sequence } = (await replica.client.get(`/markets/${market.id}/orderbook`)).body;
    await until(
      'the other has everything',
      () => quick.all('orderbook:update').at(-1)?.sequence === sequence,
    );
    expect(quick.ended()).toBeNull();
    webSocketOf(slow).terminate();
    quick.close();
    tell(
      `a client that listens and does not read: ${(most - without).toFixed(1)} MB, dropped after ${placed - UPDATES_WITHOUT} updates`,
    );
    expect(most - without).toBeLessThan(COST_MAX_MB);
  },
  STORY_MS_MAX,
);
