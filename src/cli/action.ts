import { randomUUID } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { Refusal } from '../exchange/errors';
import type { CliStore } from './store';

interface Doing {
  /** Method and path of the HTTP operation that does the same, or the words of the command. */
  readonly action: string;
  readonly path: string;
  readonly body?: unknown;
}

/**
 * Runs a command that changes data, and records it in the operators' log: before it runs, and again with its result. The
 * entry is the same as over HTTP; its origin is `local` and its operator the user who runs the command.
 */
export async function recorded<T>({ actions }: CliStore, doing: Doing, act: () => Promise<T>): Promise<T> {
  const id = randomUUID();
  const { action, path, body = {} } = doing;
  const entry = { id, requestId: id, action, path, body, address: 'local', agent: who() };
  await actions.note({ ...entry, status: null, code: null });
  try {
    const result = await act();
    await actions.note({ ...entry, status: 200, code: null });
    return result;
  } catch (error) {
    const refusal = error instanceof Refusal ? error : new Refusal('INTERNAL');
    // Report the failure itself, even if its log entry could not be completed.
    await actions.note({ ...entry, status: refusal.status, code: refusal.code }).catch(() => undefined);
    throw error;
  }
}

function who(): string {
  try {
    return `exchange cli, ${userInfo().username}@${hostname()}`;
  } catch {
    return `exchange cli, ${hostname()}`;
  }
}
