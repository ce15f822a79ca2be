import { io, type Socket } from 'socket.io-client';
import { createSigner, type Signer } from './signer';
import { type Size, sizes } from './size';
import { call, cpuMicros, FASTEST, type Side, startWeb, stopSides } from './web-process';

/**
 * Two things over real sockets, the broadcast interval at its default:
 *   latency   orders accepted at one replica, LATENCY_RATE a second, until their update arrives at a client of another
 *   fanout    a number of clients of one replica in one room, FANOUT_RATE updates a second: how many of the deliveries came
 * Clients, replicas and Redis share the machine, so the times are upper bounds.
 */
export interface RealtimeRow {
  readonly suite: 'realtime';
  readonly op: 'latency' | 'fanout';
  readonly sockets: number;
  readonly updatesPerSecond: number;
  readonly delivered: number;
  /** Updates that any client saw, times the clients: two orders within one interval are one update. */
  readonly expected: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the replica with the sockets, in microseconds for each delivered message. */
  readonly cpuMicrosPerDelivery: number;
}

const LATENCY_RATE = 200;
const LATENCY_ORDERS = sizes(50, 2_000);
const SOCKETS = sizes(50, 1_000);
const CONNECTING = 50;
const FANOUT_RATE = 25;
const FANOUT_UPDATES = sizes(10, 250);
/** The time allowed for the last messages. */
const SETTLE_MS = 3_000;

interface Update {
  readonly sequence: number;
  readonly timestamp: number;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export async function benchRealtime(
  redisUrl: string,
  size: Size,
  deadlineMs: number,
  emit: (row: RealtimeRow) => void,
): Promise<void> {
  const [near, far] = await Promise.all([startWeb(FASTEST, redisUrl), startWeb(FASTEST, redisUrl)]);
  try {
    const signer = await createSigner(near);
    emit(await latency(near, far, signer, LATENCY_ORDERS[size]));
    if (Date.now() < deadlineMs) emit(await fanout(near, far, signer, SOCKETS[size], FANOUT_UPDATES[size]));
  } finally {
    stopSides([near, far]);
  }
}

async function subscribed(
  web: Side,
  conditionId: string,
  onUpdate: (update: Update) => void,
): Promise<Socket> {
  const socket = io(`http://127.0.0.1:${web.port}`, { transports: ['websocket'], reconnection: false });
  socket.on('orderbook:update', onUpdate);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('connect_error', reject);
  });
  const answer = (await socket.timeout(10_000).emitWithAck('subscribe', { conditionId })) as { ok: boolean };
  if (!answer.ok) throw new Error('not subscribed');
  return socket;
}

/** Submits at a steady rate; returns the sequence of each order and the time of its answer. */
export async function submitSteadily(
  web: Side,
  count: number,
  rate: number,
  sign: () => { path: string; body: string },
  onAccepted: (sequence: number, atMs: number) => void,
): Promise<void> {
  const submissions = Array.from({ length: count }, () => sign());
  const start = performance.now();
  const under: Promise<void>[] = [];
  for (const [i, { path, body }] of submissions.entries()) {
    const dueMs = start + (i * 1_000) / rate;
    if (dueMs > performance.now()) await wait(dueMs - performance.now());
    under.push(
      call(web, 'POST', path, body).then(({ status, text }) => {
        if (status !== 200) throw new Error(text);
        onAccepted(JSON.parse(text).sequence, performance.now());
      }),
    );
  }
  await Promise.all(under);
}

async function latency(
  near: Side,
  far: Side,
  { market, sign }: Signer,
  orders: number,
): Promise<RealtimeRow> {
  const arrivals: { sequence: number; atMs: number }[] = [];
  const socket = await subscribed(far, market.conditionId, ({ sequence }) => {
    arrivals.push({ sequence, atMs: performance.now() });
  });
  const accepted: { sequence: number; atMs: number }[] = [];
  const before = await cpuMicros(far);
  await submitSteadily(near, orders, LATENCY_RATE, sign, (sequence, atMs) =>
    accepted.push({ sequence, atMs }),
  );
  await wait(SETTLE_MS);
  const cpu = (await cpuMicros(far)) - before;
  socket.disconnect();
  // The first update at or behind an order's sequence reports the order; an update that came before the HTTP answer
  // took no time.
  const times = accepted.flatMap(({ sequence, atMs }) => {
    const told = arrivals.find((arrival) => arrival.sequence >= sequence);
    return told ? [Math.max(0, told.atMs - atMs)] : [];
  });
  return row('latency', 1, LATENCY_RATE, times, orders, cpu / Math.max(1, arrivals.length));
}

async function fanout(
  near: Side,
  far: Side,
  { market, sign }: Signer,
  clients: number,
  updates: number,
): Promise<RealtimeRow> {
  const times: number[] = [];
  const sent = new Set<number>();
  const sockets: Socket[] = [];
  for (let at = 0; at < clients; at += CONNECTING) {
    const join = () =>
      subscribed(far, market.conditionId, ({ sequence, timestamp }) => {
        sent.add(sequence);
        times.push(Math.max(0, Date.now() - timestamp));
      });
    sockets.push(...(await Promise.all(Array.from({ length: CONNECTING }, join))));
  }
  times.length = 0;
  sent.clear();
  const before = await cpuMicros(far);
  await submitSteadily(near, updates, FANOUT_RATE, sign, () => undefined);
  await wait(SETTLE_MS);
  const cpu = (await cpuMicros(far)) - before;
  for (const socket of sockets) socket.disconnect();
  return row('fanout', clients, FANOUT_RATE, times, clients * sent.size, cpu / Math.max(1, times.length));
}

function row(
  op: RealtimeRow['op'],
  sockets: number,
  updatesPerSecond: number,
  times: number[],
  expected: number,
  cpuMicrosPerDelivery: number,
): RealtimeRow {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (part: number): number =>
    Math.round(10 * (sorted[Math.floor(sorted.length * part)] ?? Number.NaN)) / 10;
  return {
    suite: 'realtime',
    op,
    sockets,
    updatesPerSecond,
    delivered: sorted.length,
    expected,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    cpuMicrosPerDelivery: Math.round(cpuMicrosPerDelivery),
  };
}
