import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { Redis } from 'ioredis';
import { startRedis } from '../src/local/redis';
import { benchAudit } from './audit';
import { benchEngine } from './engine';
import { benchExpiry } from './expiry';
import { benchPersistence } from './persistence';
import { benchReads } from './reads';
import { benchRealtime } from './realtime';
import { benchSubmit } from './submit';

/**
 * `npm run bench -- [suite...] [--json]`: each suite on a private Redis without persistence, for at most BENCH_SECONDS
 * (default 120) together. With --json stdout has one JSON line per row and nothing else, each as soon as it is known;
 * without it a table for people, with the machine it was measured on.
 */
type Row = Readonly<Record<string, unknown>>;
type Suite = (redisUrl: string, deadlineMs: number, emit: (row: Row) => void) => Promise<void>;

const SECONDS = 120;

/** A further suite is one function and one line here. */
const SUITES: Readonly<Record<string, Suite>> = {
  audit: async (redisUrl, _deadlineMs, emit) => {
    const redis = new Redis(redisUrl);
    try {
      await benchAudit(redis, (row) => emit({ ...row }));
    } finally {
      redis.disconnect();
    }
  },
  engine: async (redisUrl, deadlineMs, emit) => {
    const redis = new Redis(redisUrl);
    try {
      await benchEngine(redis, deadlineMs, (row) => emit({ ...row }));
    } finally {
      redis.disconnect();
    }
  },
  expiry: async (redisUrl, _deadlineMs, emit) => {
    const redis = new Redis(redisUrl);
    try {
      await benchExpiry(redis, (row) => emit({ ...row }));
    } finally {
      redis.disconnect();
    }
  },
  persistence: (_redisUrl, deadlineMs, emit) => benchPersistence(deadlineMs, (row) => emit({ ...row })),
  reads: (redisUrl, deadlineMs, emit) => benchReads(redisUrl, deadlineMs, (row) => emit({ ...row })),
  realtime: (redisUrl, deadlineMs, emit) => benchRealtime(redisUrl, deadlineMs, (row) => emit({ ...row })),
  submit: (redisUrl, deadlineMs, emit) => benchSubmit(redisUrl, deadlineMs, (row) => emit({ ...row })),
};

async function main(words: readonly string[]): Promise<void> {
  const asJson = words.includes('--json');
  const named = words.filter((word) => !word.startsWith('--'));
  const unknown = named.find((name) => !(name in SUITES));
  if (unknown !== undefined)
    throw new Error(`no suite "${unknown}"; there are ${Object.keys(SUITES).join(', ')}`);
  const deadlineMs = Date.now() + Number(process.env.BENCH_SECONDS ?? SECONDS) * 1000;
  for (const name of named.length > 0 ? named : Object.keys(SUITES)) {
    const server = await startRedis();
    const rows: Row[] = [];
    try {
      if (!asJson) process.stdout.write(`\n${name} (${await machine(server.url)})\n`);
      await SUITES[name]?.(server.url, deadlineMs, (row) => {
        rows.push(row);
        if (asJson) process.stdout.write(`${JSON.stringify(row)}\n`);
      });
      if (!asJson) process.stdout.write(table(rows));
    } finally {
      await server.stop();
    }
  }
}

async function machine(redisUrl: string): Promise<string> {
  const redis = new Redis(redisUrl);
  try {
    const version = /redis_version:(\S+)/.exec(await redis.info('server'))?.[1];
    const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' });
    const cores = cpus();
    return `${cores.length} x ${cores[0]?.model.trim()}, Node ${process.version}, Redis ${version}, commit ${commit.trim()}`;
  } catch {
    return `Node ${process.version}`;
  } finally {
    redis.disconnect();
  }
}

function table(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [names, ...rows.map((row) => names.map((name) => String(row[name] ?? '')))];
  const widths = names.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  return `${lines.map((line) => line.map((cell, i) => cell.padStart(widths[i] ?? 0)).join('  ')).join('\n')}\n`;
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
