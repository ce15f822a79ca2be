import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';

export const ROOT = path.join(__dirname, '../..');
const UNTIL_MS_MAX = 20_000;
const POLL_MS = 20;

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits for a condition; rejects with its name when it does not come. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  patienceMs = UNTIL_MS_MAX,
): Promise<void> {
  const giveUpAt = Date.now() + patienceMs;
  while (!(await holds())) {
    if (Date.now() > giveUpAt) throw new Error(`still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** A program a test has started, with what it said so far. */
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
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
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

/** Runs TypeScript sources of the project in a node process of their own; `before` are more arguments of node's. */
export const startScript = (
  script: string,
  env: Readonly<Record<string, string>> = {},
  before: readonly string[] = [],
): Started => startNode([...before, '-r', './test/support/typescript.js', '-e', script], env);
