import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { shardKeys } from '../src/store/redis/keys';
import { createCrowd } from './crowd';
import { type Point, round, slope } from './figures';
import { type Load, openLoad, readBytes, requestBytes } from './load';
import { missedOfEntry, type RedisMemory, usedBytes, weigh } from './redis-memory';
import { createSigner, type Signer, type Submission } from './signer';
import { memoryOf, startWeb, startWorker, stopSides } from './web-process';

/**
 * Memory under half of the load that this machine can carry: orders that rest, cross and are cancelled, reads, and sockets of
 * which one leaves and one comes every second. It measures the heap of web and worker after a collection, the resident size,
 * and Redis without its permanent records. Memory is flat when it does not grow after the beginning.
 *
 * With an archive every order dies: it is cancelled or filled. Then all of Redis is measured, by `used_memory` for each order
 * that has left.
 */
export interface SoakRow {
  readonly suite: 'soak';
  readonly what:
    | 'web heap'
    | 'web resident'
    | 'worker heap'
    | 'worker resident'
    | 'redis less records'
    | 'redis, all of it';
  readonly minutes: number;
  readonly commandsPerSecond: number;
  readonly beginMegabytes: number;
  readonly endMegabytes: number;
  /** The slope of all readings after the beginning. */
  readonly growthMegabytes: number;
  readonly growthPart: number;
  /** Only for Redis: those that it has, or with an archive those that have left it. */
  readonly orders: number | null;
  readonly bytesPerOrder: number | null;
  readonly outboxMegabytes: number | null;
}

const CONNECTIONS = 16;
const REPLACE_EVERY_MS = 1_000;
const LOOKS = 40;
const LOOK_EVERY_MS_MIN = 1_500;
/** The part of the time that does not count: code is compiled, pools fill up. */
const BEGINNING = 0.25;
const FLOOD_MS = 6_000;
const LOAD_PART = 0.5;
/** Readings of every key of Redis. They block it, so there are few. */
const WEIGHINGS = 5;
/** Of twenty commands: 9 rest, 7 cancel, 3 cross, one reads. */
const PATTERN = 'rcrcgrcrcrcxrcrxrcxr';
/** As many cancels as orders that rest: 8, 8, 3 cross, one reads. */
const DYING = 'rcrcgrcrcrcxrcrcxrcx';
/** The first orders leave Redis a minute after their end, and a minute later as many leave as come. */
const LEAVING_MS = 130_000;
/** Each uses nearly all the money of its wallet. */
const MAKERS = 5;
const MAKER_LOTS = 180_000_000n;
const MAKER_CENTS = 45;
const TAKER_CENTS = 56;
/** Remembers only as many resting orders as will be cancelled soon. */
const REMEMBERED_MAX = 10_000;

interface Look {
  readonly atMs: number;
  readonly web: { rssBytes: number; heapBytes: number };
  readonly worker: { rssBytes: number; heapBytes: number };
  readonly redis: { usedBytes: number; left: number };
}

export interface Soak {
  readonly redisUrl: string;
  /** Null without an archive. */
  readonly archiveUrl: string | null;
  readonly minutes: number;
}

/** The memory of Redis besides its records, by kind of key. */
export interface KindRow {
  readonly suite: 'soak';
  readonly kind: string;
  readonly beginBytes: number;
  readonly endBytes: number;
}

export async function benchSoak(
  { redisUrl, archiveUrl, minutes }: Soak,
  emit: (row: SoakRow) => void,
  tellKind: (row: KindRow) => void,
): Promise<void> {
  const redis = new Redis(redisUrl);
  const missed = await missedOfEntry(redis);
  const more = archiveUrl === null ? {} : { ARCHIVE_URL: archiveUrl };
  const web = await startWeb('secp256k1', redisUrl, CONNECTIONS, ['--expose-gc'], more);
  const worker = await startWorker(redisUrl, ['--expose-gc'], more);
  const load = await openLoad(web.port, CONNECTIONS);
  const crowd = createCrowd(web.port);
  try {
    const signer = await createSigner(web);
    const commands = await createCommands(signer, archiveUrl === null ? PATTERN : DYING);
    await crowd.fill(signer.market.conditionId);
    const perSecond = (await flood(load, commands)) * LOAD_PART;
    const looks: Look[] = [];
    const weighed: (RedisMemory & { atMs: number })[] = [];
    const start = performance.now();
    const until = start + minutes * 60_000;
    const looking = repeatUntil(until, Math.max((minutes * 60_000) / LOOKS, LOOK_EVERY_MS_MIN), async () => {
      const atMs = performance.now();
      looks.push({
        atMs,
        web: await memoryOf(web),
        worker: await memoryOf(worker),
        redis: await lookAt(redis),
      });
    });
    const weighing = repeatUntil(until, (minutes * 60_000) / WEIGHINGS, async () => {
      if (archiveUrl === null) weighed.push({ atMs: performance.now(), ...(await weigh(redis, missed)) });
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
    await Promise.all([looking, weighing, replacing]);
    const shown = { minutes, commandsPerSecond: Math.round(count / (minutes * 60)) };
    const after = start + Math.max(minutes * 60_000 * BEGINNING, archiveUrl === null ? 0 : LEAVING_MS);
    for (const row of rowsOf(looks, weighed, after)) emit({ suite: 'soak', ...shown, ...row });
    const counted = weighed.filter(({ atMs }) => atMs >= after);
    for (const [kind, endBytes] of counted.at(-1)?.kinds ?? []) {
      tellKind({ suite: 'soak', kind, beginBytes: counted[0]?.kinds.get(kind) ?? 0, endBytes });
    }
  } finally {
    crowd.leave();
    load.stop();
    stopSides([web, worker]);
    redis.disconnect();
  }
}

async function lookAt(redis: Redis): Promise<Look['redis']> {
  const left = await redis.hget(shardKeys().archive, 'orders');
  return { usedBytes: await usedBytes(redis), left: Number(left) };
}

type Figures = Omit<SoakRow, 'suite' | 'minutes' | 'commandsPerSecond'>;

function rowsOf(
  looks: readonly Look[],
  weighed: readonly (RedisMemory & { atMs: number })[],
  afterMs: number,
): Figures[] {
  const none = { orders: null, bytesPerOrder: null, outboxMegabytes: null };
  const counted = looks.filter(({ atMs }) => atMs >= afterMs);
  const of = (what: Figures['what'], bytes: (look: Look) => number): Figures => ({
    ...grown(
      what,
      counted.map((look) => ({ x: look.atMs, y: bytes(look) })),
    ),
    ...none,
  });
  return [
    of('web heap', ({ web }) => web.heapBytes),
    of('web resident', ({ web }) => web.rssBytes),
    of('worker heap', ({ worker }) => worker.heapBytes),
    of('worker resident', ({ worker }) => worker.rssBytes),
    weighed.length > 0
      ? ofKeys(weighed, afterMs)
      : {
          ...of('redis, all of it', ({ redis }) => redis.usedBytes),
          orders: looks.at(-1)?.redis.left ?? 0,
          bytesPerOrder: round(slope(counted.map(({ redis }) => ({ x: redis.left, y: redis.usedBytes })))),
        },
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

const megabytes = (bytes: number): number => round(bytes / 2 ** 20, 1);

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

interface Commands {
  next(): Buffer;
  /** A cancel may find its order filled; no other refusal is expected. */
  check(status: number): void;
}

async function createCommands(signer: Signer, pattern: string): Promise<Commands> {
  const tokens = await signer.signIn();
  const rested: Submission[] = [];
  let count = 0;
  const submit = ({ path, body }: Submission): Buffer => requestBytes(path, body);
  const opening = Array.from({ length: MAKERS }, () =>
    submit(signer.sign({ outcome: 1, cents: MAKER_CENTS, lots: MAKER_LOTS })),
  );
  return {
    next() {
      const first = opening.pop();
      if (first) return first;
      const what = pattern[count++ % pattern.length];
      const known = what === 'c' ? rested.shift() : undefined;
      if (known) return requestBytes(`/orders/${known.orderHash}/cancel`, '', tokens[known.wallet]);
      if (what === 'g') return readBytes(`/markets/${signer.market.id}/orderbook`);
      if (what === 'x') return submit(signer.sign({ outcome: 0, cents: TAKER_CENTS }));
      const submission = signer.sign();
      if (rested.length < REMEMBERED_MAX) rested.push(submission);
      return submit(submission);
    },
    check(status) {
      if (status !== 200) throw new Error(`a command was answered with ${status}`);
    },
  };
}

/** Commands a second without waiting. */
async function flood(load: Load, commands: Commands): Promise<number> {
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
