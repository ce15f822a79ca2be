import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { startRedis } from '../src/local/redis';
import { aligned, type Line, tableOf } from './line';
import { type Size, sizes } from './size';
import { type Detail, SUITES } from './suites';

/**
 * `npm run bench -- [suite...] [--small|--full] [--against FOLDER] [--json]`: each suite on a private Redis without persistence,
 * then one table. Without names all suites, and no details. With --small each suite runs for a few seconds, and no target is
 * judged. With --json stdout has one JSON object a line, each as soon as it is known, `kind` machine, detail or line, and with
 * `npm run -s` nothing else. BENCH_SECONDS bounds each suite.
 */
interface Words {
  readonly suites: readonly string[];
  readonly size: Size;
  readonly asJson: boolean;
  readonly against: string | null;
  readonly withDetails: boolean;
}

const SECONDS = sizes(120, 120, 240);
const USAGE = `npm run bench -- [${Object.keys(SUITES).join('|')}...] [--small|--full] [--against FOLDER] [--json]`;

function read(given: readonly string[]): Words {
  const { values, positionals: suites } = parseArgs({
    args: [...given],
    allowPositionals: true,
    options: {
      small: { type: 'boolean' },
      full: { type: 'boolean' },
      json: { type: 'boolean', default: false },
      against: { type: 'string' },
    },
  });
  const unknown = suites.find((name) => !(name in SUITES));
  if (unknown !== undefined) throw new Error(`no suite "${unknown}": ${USAGE}`);
  return {
    suites: suites.length > 0 ? suites : Object.keys(SUITES),
    size: values.small ? 'small' : values.full ? 'full' : 'usual',
    asJson: values.json,
    against: values.against ?? null,
    withDetails: suites.length > 0,
  };
}

async function main({ suites, size, asJson, against, withDetails }: Words): Promise<void> {
  const say = (text: string): void => void (asJson || process.stdout.write(text));
  const note = (kind: string, value: object): void =>
    void (asJson && process.stdout.write(`${JSON.stringify({ kind, ...value })}\n`));
  const seconds = Number(process.env.BENCH_SECONDS ?? SECONDS[size]);
  const lines: Line[] = [];
  let failed: unknown;
  for (const [i, name] of suites.entries()) {
    const server = await startRedis();
    const details: Detail[] = [];
    try {
      if (i === 0) {
        const about = await machine(server.url);
        note('machine', about);
        say(
          `${about.cores} x ${about.cpu}, Node ${about.node}, Redis ${about.redis}, commit ${about.commit}\n`,
        );
      }
      if (!withDetails) process.stderr.write(`${name} ...\n`);
      const wishes = {
        redisUrl: server.url,
        deadlineMs: Date.now() + seconds * 1_000,
        size,
        against,
      };
      const found = await SUITES[name]?.(wishes, (detail) => {
        details.push(detail);
        note('detail', { suite: name, ...detail });
      });
      for (const measured of found ?? []) {
        const line = size === 'small' ? { ...measured, met: null } : measured;
        lines.push(line);
        note('line', line);
      }
    } catch (error) {
      // One suite that fails must not lose the others' figures.
      failed = error;
      process.stderr.write(`${name}: ${messageOf(error)}\n`);
    } finally {
      await server.stop();
    }
    if (withDetails) say(`\n${name}\n${detailTable(details)}`);
  }
  say(`\n${tableOf(lines)}`);
  if (failed || lines.some(({ met }) => met === false)) process.exitCode = 1;
}

async function machine(redisUrl: string) {
  const redis = new Redis(redisUrl);
  try {
    const [core] = cpus();
    return {
      cores: cpus().length,
      cpu: core?.model.trim() ?? 'unknown',
      node: process.version,
      redis: /redis_version:(\S+)/.exec(await redis.info('server'))?.[1] ?? 'unknown',
      commit: commit(),
      at: new Date().toISOString(),
    };
  } finally {
    redis.disconnect();
  }
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return 'unknown';
  }
}

/** A table for each shape of details. */
function detailTable(details: readonly Detail[]): string {
  const shapes = new Map<string, Detail[]>();
  for (const { suite, ...detail } of details) {
    const shape = Object.keys(detail).join();
    shapes.set(shape, [...(shapes.get(shape) ?? []), detail]);
  }
  return [...shapes.values()]
    .map((rows) => {
      const names = Object.keys(rows[0] ?? {});
      return aligned([names, ...rows.map((row) => names.map((name) => String(row[name] ?? '')))]);
    })
    .join('\n');
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function run(): Promise<void> {
  await main(read(process.argv.slice(2)));
}

run().catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
});
