import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, rmSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import type { Environment } from '../config/load';

/** A child process that runs no longer than this process. */
export interface Child {
  readonly name: string;
  readonly pid: number;
  /** Settles when the process has ended for any reason. */
  readonly exited: Promise<ChildExit>;
  /** The last lines of its output, oldest first. */
  lastLines(): readonly string[];
  /** Sends SIGTERM, then SIGKILL after `graceMs`, and removes the folder. Safe to call twice. */
  stop(graceMs: number): Promise<void>;
}

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ChildOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Environment;
  readonly cwd?: string;
  /** A private folder of the child, removed when the child has ended. */
  readonly folder?: string;
  /** The file to which the output is appended. */
  readonly logFile?: string;
  readonly onLine?: (line: string) => void;
}

const LINES_KEPT = 40;
const LAST_WORDS_MS_MAX = 200;

/**
 * The guard shares a pipe with this process. A line on the pipe means that the child has ended; the end of the pipe without
 * a line means that this process died, perhaps by SIGKILL. Then the guard ends the child and removes its folder. The child
 * replaces the shell that started the guard, so this process can signal it by its pid.
 */
const GUARD = `
folder=$1; shift
( if read -r line; then exit 0; fi
  kill -TERM $$; tries=0
  while kill -0 $$ && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
  kill -KILL $$
  [ -z "$folder" ] || rm -rf -- "$folder"
) <&3 3<&- >/dev/null 2>&1 &
exec "$@" 3<&-
`;

/** Starts a program that ends with this process. It has its own session, so a Ctrl-C at the terminal does not reach it. */
export function startChild(options: ChildOptions): Child {
  const lines: string[] = [];
  const child = spawn(
    '/bin/sh',
    ['-c', GUARD, 'guard', options.folder ?? '', options.command, ...options.args],
    {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: { ...options.env },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
    },
  );
  const guard = child.stdio[3] as NodeJS.WritableStream & { unref?: () => void };
  guard.on('error', () => undefined);
  const keepLine = (line: string): void => {
    lines.push(line);
    if (lines.length > LINES_KEPT) lines.shift();
    if (options.logFile !== undefined) appendFileSync(options.logFile, `${line}\n`);
    options.onLine?.(line);
  };
  const outputs = [child.stdout, child.stderr].filter((stream) => stream !== null);
  for (const stream of outputs) eachLine(stream, keepLine);

  const exited = new Promise<ChildExit>((resolve) => {
    let gone = false;
    const settle = (exit: ChildExit): void => {
      if (gone) return;
      gone = true;
      guard.end('gone\n');
      if (options.folder !== undefined) rmSync(options.folder, { recursive: true, force: true });
      resolve(exit);
    };
    // Its last output arrives after its exit. A grandchild may hold the pipes open, so the wait is short.
    child.once('exit', (code, signal) => {
      const late = setTimeout(() => settle({ code, signal }), LAST_WORDS_MS_MAX);
      void Promise.all(outputs.map((stream) => (stream.closed ? null : once(stream, 'close')))).then(() => {
        clearTimeout(late);
        settle({ code, signal });
      });
    });
    child.once('error', (error) => {
      keepLine(error.message);
      settle({ code: 127, signal: null });
    });
  });
  unreference(child, guard);
  return {
    name: options.name,
    pid: child.pid ?? 0,
    exited,
    lastLines: () => lines,
    stop: (graceMs) => stopChild(child, exited, graceMs),
  };
}

async function stopChild(child: ChildProcess, exited: Promise<ChildExit>, graceMs: number): Promise<void> {
  child.ref();
  child.kill('SIGTERM');
  const kill = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await exited;
  clearTimeout(kill);
}

/** Lets this process end while the child still runs; the guard then ends the child. */
function unreference(child: ChildProcess, guard: { unref?: () => void }): void {
  child.unref();
  guard.unref?.();
  for (const stream of [child.stdout, child.stderr]) (stream as { unref?: () => void } | null)?.unref?.();
}

function eachLine(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const parts = (rest + decoder.write(chunk)).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) onLine(part);
  });
  stream.on('error', () => undefined);
  stream.on('end', () => {
    if (rest !== '') onLine(rest);
  });
}

/** Runs a short command; returns its output, or null when it is missing, fails or takes longer than `timeoutMs`. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: { readonly timeoutMs: number; readonly cwd?: string; readonly env?: Environment },
): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.env === undefined ? {} : { env: { ...options.env } }),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    // spawn's own timeout would keep its timer when the program cannot be started.
    const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs);
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    const settle = (result: string | null): void => {
      clearTimeout(timer);
      process.off('exit', kill);
      resolve(result);
    };
    child.once('error', () => settle(null));
    child.once('close', (code) => settle(code === 0 ? output : null));
  });
}
