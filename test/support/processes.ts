import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { ownChild } from './leftovers';
import { until } from './waiting';

export const ROOT = path.join(__dirname, '../..');

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A program that a test has started, with its output so far. */
export interface Started {
  readonly child: ChildProcess;
  /** Exit code, or the signal's name. */
  readonly exited: Promise<number | string | null>;
  stdout(): string;
  stderr(): string;
}

export const startNode = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Started =>
  startProgram(process.execPath, args, env);

export function startProgram(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Started {
  const stdio = ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'];
  const known = { PATH: process.env.PATH, HOME: process.env.HOME };
  const child = ownChild(spawn(program, args, { cwd: ROOT, env: { ...known, ...env }, stdio }));
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      said[name] += chunk.toString();
    });
  }
  const exited = new Promise<number | string | null>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? code));
  });
  return { child, exited, stdout: () => said.stdout, stderr: () => said.stderr };
}

/** Runs TypeScript sources of the project in a separate node process; `before` are more arguments of node. */
export const startScript = (
  script: string,
  env: Readonly<Record<string, string>> = {},
  before: readonly string[] = [],
): Started => startNode([...before, '-r', './test/support/typescript.js', '-e', script], env);

/** A process starts within a second, but on a busy machine within many. */
export const START_MS = 120_000;

/** The port that a web process wrote to its log. */
export async function portOf(started: Started): Promise<string> {
  const told = (): string | undefined => /"port":(\d+)/.exec(started.stdout())?.[1];
  await until('web listens', () => told() !== undefined, {
    patienceMs: START_MS,
    isLost: () => started.child.exitCode !== null || started.child.signalCode !== null,
    explain: () => started.stdout() + started.stderr(),
  });
  return told() ?? '';
}
