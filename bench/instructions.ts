import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCommand } from '../src/local/child';
import { startRedis } from '../src/local/redis';
import { round } from './figures';
import { atMost, type Line, lineOf } from './line';
import { type Size, sizes } from './size';

/**
 * The instructions that Redis runs for one command of the engine, counted by callgrind, so that the machine's other work does
 * not change the figure. With another tree, the same for its scripts, and the growth since.
 */
export interface InstructionsRow {
  readonly op: string;
  readonly instructions: number;
  /** The count of the other tree. */
  readonly against: number | null;
  readonly ratio: number | null;
}

type Counts = Readonly<Record<string, number>>;

const VERSION_MS_MAX = 10_000;
const ROUNDS = sizes(1, 5);
const RATIO_MOST = 1.03;
const TRACES_MOST = 1.15;
const OWN_TREE = path.join(__dirname, '..');

export async function benchInstructions(
  against: string | null,
  size: Size,
  emit: (row: InstructionsRow) => void,
): Promise<void> {
  if (
    (await runCommand('valgrind', ['--version'], { timeoutMs: VERSION_MS_MAX, env: process.env })) === null
  ) {
    process.stderr.write('instructions: left out; it needs valgrind (apt-get install valgrind)\n');
    return;
  }
  const [own, other] = await Promise.all([
    countsOf(OWN_TREE, ROUNDS[size]),
    against === null ? null : countsOf(against, ROUNDS[size]),
  ]);
  for (const [op, instructions] of Object.entries(own)) {
    const before = other?.[op] ?? null;
    emit({ op, instructions, against: before, ratio: before && round(instructions / before, 3) });
  }
}

export const instructionsLines = (rows: readonly InstructionsRow[]): Line[] => [
  ...linesOf(rows),
  ...traceLines(rows),
];

/** The cost of a market's traces (lua/lib/traces.lua) for an order that rests in it. */
function traceLines(rows: readonly InstructionsRow[]): Line[] {
  const [plain, traced] = ['insert', 'insert with traces'].map((op) => rows.find((row) => row.op === op));
  if (!plain || !traced) return [];
  const ratio = round(traced.instructions / plain.instructions, 3);
  return [
    lineOf({
      suite: 'instructions',
      what: traced.op,
      figure: traced.instructions,
      unit: 'instructions of Redis',
      baseline: plain.op,
      ratio,
      target: atMost(TRACES_MOST, 'ratio'),
    }),
  ];
}

const linesOf = (rows: readonly InstructionsRow[]): Line[] =>
  rows.map(({ op, instructions, ratio }) =>
    lineOf({
      suite: 'instructions',
      what: op,
      figure: instructions,
      unit: 'instructions of Redis',
      ...(ratio === null
        ? {}
        : {
            baseline: 'the other tree',
            ratio,
            target: atMost(RATIO_MOST, 'ratio'),
            options: '--against FOLDER',
          }),
    }),
  );

async function countsOf(tree: string, rounds: number): Promise<Counts> {
  const folder = mkdtempSync(path.join(tmpdir(), 'exchange-instructions-'));
  const server = await startRedis({ env: { ...process.env, PATH: pathWithCallgrind(folder) } });
  try {
    const args = [path.resolve(tree), server.url, String(server.pid), folder, String(rounds)];
    const child = fork(path.join(__dirname, 'instructions-of.ts'), args, {
      execArgv: ['-r', path.join(OWN_TREE, 'test/support/typescript.js')],
    });
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`counting the instructions of ${tree} ended with code ${code}`);
    });
    const [counts] = await Promise.race([once(child, 'message'), ended]);
    return counts as Counts;
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A PATH whose redis-server is the machine's under callgrind. */
function pathWithCallgrind(folder: string): string {
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  const program = path.join(bin, 'redis-server');
  const counting = `--tool=callgrind --toggle-collect=evalShaCommand --callgrind-out-file='${folder}/out'`;
  writeFileSync(
    program,
    `#!/bin/sh\nPATH=\${PATH#*:}\n[ "$1" = --version ] && exec redis-server "$@"\nexec valgrind ${counting} redis-server "$@"\n`,
  );
  chmodSync(program, 0o755);
  return `${bin}:${process.env.PATH}`;
}
