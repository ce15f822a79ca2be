import type { ChildProcess } from 'node:child_process';

/** The list that test/support/environment.js gives to each test file; outside jest there is none. */
interface Leftovers {
  readonly pids: Set<number>;
  readonly isOver: boolean;
}

function listed(pid: number, gone: (forget: () => void) => void): void {
  const { leftovers } = globalThis as { leftovers?: Leftovers };
  if (!leftovers || pid <= 0) return;
  // The file has ended during the start, so this ends the process at once.
  if (leftovers.isOver) process.kill(pid, 'SIGKILL');
  leftovers.pids.add(pid);
  gone(() => leftovers.pids.delete(pid));
}

/** Registers a process to be killed at the end of the test file, whatever the result of the test. */
export function ownChild<T extends ChildProcess>(child: T): T {
  listed(child.pid ?? 0, (forget) => child.once('exit', forget));
  return child;
}

/** The same for a server that reports its end. */
export function ownServer<T extends { readonly pid: number; readonly exited: Promise<unknown> }>(
  server: T,
): T {
  listed(server.pid, (forget) => void server.exited.then(forget, forget));
  return server;
}
