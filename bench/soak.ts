import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createCrowd } from './crowd';
import { type Point, round, slope } from './figures';
import { type Load, openLoad, readBytes, requestBytes } from './load';
import { missedOfEntry, type RedisMemory, weigh } from './redis-memory';
import { createSigner, type Signer, type Submission } from './signer';
import { FASTEST, memoryOf, type Side, startWeb, startWorker, stopSides } from './web-process';

/**
 * Memory under half of the load that this machine can carry: orders that rest, cross and are cancelled, reads, and sockets of
 * which one leaves and one comes every second. It measures the heap of web and worker after a collection, the resident size,
 * and Redis without its permanent records. Memory is flat when it does not grow after the beginning.
 */
export interface SoakRow {
  readonly suite: 'soak';
  readonly what:
    | 'web heap'
    | 'web resident'
    | 'worker heap'
    | 'worker resident'
    | 'redis less records'
    | 'redis, orders cancelled or filled'
    | 'redis, orders that expired';
  readonly minutes: number;
  readonly withArchive: boolean;
  readonly commandsPerSecond: number;
  readonly beginMegabytes: number;
  readonly endMegabytes: number;
  /** The slope of all readings after the beginning. */
  readonly growthMegabytes: number;
  readonly growthPart: number;
  /** Only for Redis: those that it has, or with an archive those that left it meanwhile. */
  readonly orders: number | null;
  readonly bytesPerOrder: number | null;
  readonly outboxMegabytes: number | null;
}

const CONNECTIONS = 16;
const REPLACE_EVERY_MS = 1_000;
const LOOKS = 40;
const LOOK_EVERY_MS_MIN = 1_500;
/** The part of the time that does not count: code is compiled, pools fill up. */
export const BEGINNING = 0.25;
const FLOOD_MS = 6_000;
export const LOAD_PART = 0.5;
/** Readings of every key of Redis. They block it, so there are few. */
const WEIGHINGS = 5;
/** Of twenty commands: 9 rest, 7 cancel, 3 cross, one reads. */
const PATTERN = 'rcrcgrcrcrcxrcrxrcxr';
/** Each uses nearly all the money of its wallet. */
export const MAKERS = 5;
const MAKER_LOTS = 180_000_000n;
const MAKER_CENTS = 45;
const TAKER_CENTS = 56;
/** Remembers only as many resting orders as will be cancelled soon. */
const REMEMBERED_MAX = 10_000;

export interface Look {
  readonly atMs: number;
  readonly web: { rssBytes: number; heapBytes: number };
  readonly worker: { rssBytes: number; heapBytes: number };
}

/** The memory of Redis, by kind of key. */
export interface KindRow {
  readonly suite: 'soak';
  readonly kind: string;
  readonly beginBytes: number;
  readonly endBytes: number;
}

export interface World {
  readonly redis: Redis;
  readonly web: Side;
  readonly worker: Side;
  readonly load: Load;
  readonly crowd: ReturnType<typeof createCrowd>;
  readonly signer: Signer;
  readonly tokens: readonly string[];
}

/** A web process and a worker, wallets that are signed in, and sockets. */
export async function withWorld(
  redisUrl: string,
  more: NodeJS.ProcessEnv,
  run: (world: World) => Promise<void>,
): Promise<void> {
  const redis = new Redis(redisUrl);
  const web = await startWeb(FASTEST, redisUrl, CONNECTIONS, ['--expose-gc'], more);
  const worker = await startWorker(redisUrl, ['--expose-gc'], more);
  const load = await openLoad(web.port, CONNECTIONS);
  const crowd = createCrowd(web.port);
  try {
    const signer = await createSigner(web);
    const tokens = await signer.signIn();
    await crowd.fill(signer.market.conditionId);
    await run({ redis, web, worker, load, crowd, signer, tokens });
  } finally {
    crowd.leave();
    load.stop();
    stopSides([web, worker]);
    redis.disconnect();
  }
}

export async function benchSoak(
  redisUrl: string,
  minutes: number,
  emit: (row: SoakRow) => void,
  tellKind: (row: KindRow) => void,
): Promise<void> {
  await withWorld(redisUrl, {}, async (world) => {
    const missed = await missedOfEntry(world.redis);
    const commands = createCommands(world, { pattern: PATTERN });
    const perSecond = (await flood(world.load, commands)) * LOAD_PART;
    const weighed: (RedisMemory & { atMs: number })[] = [];
    const start = performance.now();
    const weighing = repeatUntil(start + minutes * 60_000, (minutes * 60_000) / WEIGHINGS, async () => {
      weighed.push({ atMs: performance.now(), ...(await weigh(world.redis, missed)) });
    });
    const { looks, commandsPerSecond } = await underLoad(world, commands, { perSecond, minutes });
    await weighing;
    const after = start + minutes * 60_000 * BEGINNING;
    const shown = { suite: 'soak', minutes, withArchive: false, commandsPerSecond } as const;
    for (const row of [...ofProcesses(looks, after), ofKeys(weighed, after)]) emit({ ...shown, ...row });
    const counted = weighed.filter(({ atMs }) => atMs >= after);
    for (const row of kindsOf(counted[0], counted.at(-1))) tellKind(row);
  });
}

export function kindsOf(begin: RedisMemory | undefined, end: RedisMemory | undefined): KindRow[] {
  return [...(end?.kinds ?? [])].map(([kind, endBytes]) => {
    return { suite: 'soak', kind, beginBytes: begin?.kinds.get(kind) ?? 0, endBytes };
  });
}

/** Commands at this rate, while one looks at both processes and replaces sockets. */
export async function underLoad(
  { web, worker, load, crowd, signer }: World,
  commands: Commands,
  { perSecond, minutes }: { readonly perSecond: number; readonly minutes: number },
): Promise<{ readonly looks: readonly Look[]; readonly commandsPerSecond: number }> {
  const looks: Look[] = [];
  const until = performance.now() + minutes * 60_000;
  const looking = repeatUntil(until, Math.max((minutes * 60_000) / LOOKS, LOOK_EVERY_MS_MIN), async () => {
    const atMs = performance.now();
    looks.push({ atMs, web: await memoryOf(web), worker: await memoryOf(worker) });
  });
  const replacing = repeatUntil(until, REPLACE_EVERY_MS, () => crowd.replaceOne(signer.market.conditionId));
  let count = 0;
  await load.steady(
    perSecond,
    () => (performance.now() < until ? commands.next() : null),
    (status) => {
      commands.check(status);
      count++;
    },
  );
  await Promise.all([looking, replacing]);
  return { looks, commandsPerSecond: Math.round(count / (minutes * 60)) };
}

export type Figures = Omit<SoakRow, 'suite' | 'minutes' | 'withArchive' | 'commandsPerSecond'>;

const NO_ORDERS = { orders: null, bytesPerOrder: null, outboxMegabytes: null };

export function ofProcesses(looks: readonly Look[], afterMs: number): Figures[] {
  const counted = looks.filter(({ atMs }) => atMs >= afterMs);
  const of = (what: Figures['what'], bytes: (look: Look) => number): Figures => {
    const points = counted.map((look) => ({ x: look.atMs, y: bytes(look) }));
    return { ...grown(what, points), ...NO_ORDERS };
  };
  return [
    of('web heap', ({ web }) => web.heapBytes),
    of('web resident', ({ web }) => web.rssBytes),
    of('worker heap', ({ worker }) => worker.heapBytes),
    of('worker resident', ({ worker }) => worker.rssBytes),
  ];
}

function ofKeys(weighed: readonly (RedisMemory & { atMs: number })[], afterMs: number): Figures {
  const [first, last] = [weighed[0], weighed.at(-1)];
  const rest = weighed
    .filter(({ atMs }) => atMs >= afterMs)
    .map((one) => ({ x: one.atMs, y: one.restBytes }));
  const added = (last?.orders ?? 0) - (first?.orders ?? 0);
  return {
    ...grown('redis less records', rest),
    orders: last?.orders ?? 0,
    bytesPerOrder: Math.round(((last?.recordsBytes ?? 0) - (first?.recordsBytes ?? 0)) / added),
    outboxMegabytes: megabytes(last?.outboxBytes ?? 0),
  };
}

export const megabytes = (bytes: number): number => round(bytes / 2 ** 20, 1);

/** Growth by the line through all points, so that the time of one collection does not matter. */
export function grown(what: Figures['what'], points: readonly Point[]) {
  const [first, last] = [points[0] ?? { x: 0, y: Number.NaN }, points.at(-1) ?? { x: 0, y: Number.NaN }];
  const growth = slope(points) * (last.x - first.x);
  return {
    what,
    beginMegabytes: megabytes(first.y),
    endMegabytes: megabytes(last.y),
    growthMegabytes: megabytes(growth),
    growthPart: round(growth / first.y, 3),
  };
}

/** Repeats a task at an interval until the time, the first time at once. A slow run delays the next. */
async function repeatUntil(untilMs: number, everyMs: number, task: () => Promise<void>): Promise<void> {
  for (let due = performance.now(); due < untilMs; due += everyMs) {
    await wait(Math.max(0, due - performance.now()));
    await task();
  }
}

export interface Commands {
  next(): Buffer;
  /** Cancels an order that rests; null when none is left. */
  cancelNext(): Buffer | null;
  /** A cancel may find its order filled; no other refusal is expected. */
  check(status: number): void;
}

/** Commands in this order, again and again: r rests, c cancels one that rests, x crosses, g reads. */
export interface Turns {
  readonly pattern: string;
  /** Seconds after which an order that rests expires; without it the orders stay until they are cancelled. */
  readonly lifeSeconds?: number;
}

export function createCommands({ signer, tokens }: World, { pattern, lifeSeconds }: Turns): Commands {
  const rested: Submission[] = [];
  let count = 0;
  const submit = ({ path, body }: Submission): Buffer => requestBytes(path, body);
  const makers = pattern.includes('x') ? MAKERS : 0;
  const opening = Array.from({ length: makers }, () =>
    submit(signer.sign({ outcome: 1, cents: MAKER_CENTS, lots: MAKER_LOTS })),
  );
  function cancelNext(): Buffer | null {
    const known = rested.shift();
    return known ? requestBytes(`/orders/${known.orderHash}/cancel`, '', tokens[known.wallet]) : null;
  }
  function rest(): Buffer {
    if (lifeSeconds !== undefined) {
      const expiration = BigInt(Math.ceil(Date.now() / 1_000) + lifeSeconds);
      return submit(signer.sign({ expiration }));
    }
    const submission = signer.sign();
    if (rested.length < REMEMBERED_MAX) rested.push(submission);
    return submit(submission);
  }
  return {
    next() {
      const first = opening.pop();
      if (first) return first;
      const what = pattern[count++ % pattern.length];
      if (what === 'g') return readBytes(`/markets/${signer.market.id}/orderbook`);
      if (what === 'x') return submit(signer.sign({ outcome: 0, cents: TAKER_CENTS }));
      return (what === 'c' ? cancelNext() : null) ?? rest();
    },
    cancelNext,
    check(status) {
      if (status !== 200) throw new Error(`a command was answered with ${status}`);
    },
  };
}

/** Sends commands for some seconds without waiting; returns how many a second that were. */
export async function flood(load: Load, commands: Commands): Promise<number> {
  let count = 0;
  const start = performance.now();
  const isOver = (): boolean => performance.now() - start > FLOOD_MS;
  await load.flood(
    () => (isOver() ? null : commands.next()),
    (status) => {
      commands.check(status);
      count++;
    },
  );
  return (1_000 * count) / (performance.now() - start);
}
