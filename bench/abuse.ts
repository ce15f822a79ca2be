import { fork } from 'node:child_process';
import { get } from 'node:http';
import { setPriority } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Plan } from './attack-plan';
import type { Attack, Damage } from './attacker';
import { plansOf } from './attacks';
import { type Size, sizes } from './size';
import { cpuMicros, FASTEST, message, type Side, startWeb, stopSides } from './web-process';

/**
 * Measures the cost of one hostile address for all others: its CPU time in a web process and in Redis, as a share of a core,
 * and the time that a bystander at another address waits for a book, compared with a quiet exchange. Limits are on, as in a
 * deployment.
 */
export interface AbuseRow {
  readonly suite: 'abuse';
  readonly attack: string;
  readonly connections: number;
  readonly sentPerSecond: number;
  /** Answered with 429 or 503, or refused on a socket. */
  readonly refusedPart: number;
  readonly webShare: number;
  readonly redisShare: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The bystander's p50 divided by that of a quiet moment right before. */
  readonly p50OverQuiet: number;
  readonly p99OverQuiet: number;
  /** The growth of Redis for each request sent. */
  readonly redisBytesPerRequest: number;
  readonly redisBytesPerSecond: number;
}

const CONNECTIONS = sizes([1], [1, 10, 50]);
const SECONDS = sizes(0.2, 3);
/** The allowance is used up before the measurement starts. */
const WARM_SECONDS = sizes(0.1, 2);
const ATTACKER_NICE = 10;
/** An address of this machine other than the attacker's, which is 127.0.0.1. */
const BYSTANDER = '127.0.0.2';
const QUIET_MS = sizes(0, 500);
/** All are prepared, and this number of each is played. */
const PLANS_MAX = sizes(3, Number.POSITIVE_INFINITY);
const BYSTANDER_PER_SECOND = 40;
const BYSTANDER_LINES = 40;

interface Moment {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly webShare: number;
  readonly redisShare: number;
  readonly redisBytes: number;
}

/** `redisUrl` is a separate Redis. The number of attacks bounds the run, because a missing row would look like a met target. */
export async function benchAbuse(redisUrl: string, size: Size, emit: (row: AbuseRow) => void): Promise<void> {
  const quiet = await startWeb(FASTEST, redisUrl);
  const web = await startWeb(FASTEST, redisUrl, BYSTANDER_LINES, undefined, {
    RATE_LIMIT: 'on',
  });
  const redis = new Redis(redisUrl);
  try {
    const { plans, marketId } = await plansOf(quiet, size);
    const look = (): Promise<Moment> => observe(web, redis, marketId, SECONDS[size]);
    await look();
    const only = new RegExp(process.env.ABUSE_ONLY ?? '');
    for (const plan of plans.filter(({ what }) => only.test(what)).slice(0, PLANS_MAX[size])) {
      const before = await look();
      for (const connections of CONNECTIONS[size]) {
        emit(await attacked(plan, connections, size, web, before, look));
        await wait(QUIET_MS[size]);
      }
    }
  } finally {
    redis.disconnect();
    stopSides([quiet, web]);
  }
}

async function attacked(
  { what, attack }: Plan,
  connections: number,
  size: Size,
  web: Side,
  before: Moment,
  look: () => Promise<Moment>,
): Promise<AbuseRow> {
  const child = fork(path.join(__dirname, 'attacker.ts'), {
    execArgv: ['-r', path.join(__dirname, '../test/support/typescript.js')],
    serialization: 'advanced',
  });
  await message(child);
  // Unlike real attackers it shares the machine: the bystander must wait for the exchange, not for the attacker's programs.
  if (child.pid !== undefined) setPriority(child.pid, ATTACKER_NICE);
  child.send({ ...attack, port: web.port, connections } satisfies Attack);
  const [warmSeconds, measuredSeconds] = [WARM_SECONDS[size], SECONDS[size]];
  await wait(warmSeconds * 1_000);
  const during = await look();
  const told = message<Damage>(child);
  child.send('stop');
  const { sent, refused } = await told;
  const seconds = warmSeconds + measuredSeconds;
  return {
    suite: 'abuse',
    attack: what,
    connections,
    sentPerSecond: Math.round(sent / seconds),
    refusedPart: hundredths(refused / Math.max(1, sent)),
    webShare: hundredths(during.webShare - before.webShare),
    redisShare: hundredths(during.redisShare - before.redisShare),
    p50Ms: hundredths(during.p50Ms),
    p99Ms: hundredths(during.p99Ms),
    p50OverQuiet: hundredths(during.p50Ms / before.p50Ms),
    p99OverQuiet: hundredths(during.p99Ms / before.p99Ms),
    redisBytesPerRequest: Math.round(during.redisBytes / Math.max(1, (sent / seconds) * measuredSeconds)),
    redisBytesPerSecond: Math.round(during.redisBytes / measuredSeconds),
  };
}

const hundredths = (value: number): number => Math.round(value * 100) / 100;

/** The time in seconds in which the bystander reads and CPU times are taken. */
async function observe(web: Side, redis: Redis, marketId: string, lasting: number): Promise<Moment> {
  const latencies: number[] = [];
  const [web0, redis0, start] = [await cpuMicros(web), await redisUse(redis), performance.now()];
  const pending: Promise<void>[] = [];
  for (let i = 0; i < lasting * BYSTANDER_PER_SECOND; i++) {
    await wait(Math.max(0, start + (i * 1_000) / BYSTANDER_PER_SECOND - performance.now()));
    pending.push(readBook(web, marketId).then((ms) => void latencies.push(ms)));
  }
  await Promise.all(pending);
  const seconds = (performance.now() - start) / 1_000;
  const [web1, redis1] = [await cpuMicros(web), await redisUse(redis)];
  latencies.sort((a, b) => a - b);
  const at = (part: number): number => latencies[Math.floor(latencies.length * part)] ?? Number.NaN;
  return {
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    webShare: (web1 - web0) / seconds / 1e6,
    redisShare: (redis1.cpu - redis0.cpu) / seconds,
    redisBytes: redis1.bytes - redis0.bytes,
  };
}

/** Milliseconds until the whole book has arrived. */
function readBook({ port, agent }: Side, marketId: string): Promise<number> {
  const start = performance.now();
  const target = `/markets/${marketId}/orderbook?depth=20`;
  return new Promise((resolve, reject) => {
    const sent = get({ port, agent, path: target, localAddress: BYSTANDER }, (answer) => {
      answer.resume().on('end', () => {
        if (answer.statusCode === 200) resolve(performance.now() - start);
        else reject(new Error(`the bystander was answered ${answer.statusCode}`));
      });
    });
    sent.on('error', reject);
  });
}

/** Seconds of CPU and bytes. */
async function redisUse(redis: Redis): Promise<{ cpu: number; bytes: number }> {
  const info = `${await redis.info('cpu')}${await redis.info('memory')}`;
  const of = (name: string): number => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)?.[1] ?? Number.NaN);
  return { cpu: of('used_cpu_user') + of('used_cpu_sys'), bytes: of('used_memory') };
}
