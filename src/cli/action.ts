import { randomUUID } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { Refusal } from '../exchange/errors';
import type { CliStore } from './store';

interface Doing {
  /** Method and path of the operation over HTTP that does the same, or the words of the command. */
  readonly action: string;
  readonly path: string;
  readonly body?: unknown;
}

/**
 * Does what changes something, with an entry in the operators' log: written before anything is done, and completed with
 * what became of it. The same entry as over HTTP, from `local` and by who runs the command.
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
    // The failure itself matters more than a log that could not be completed.
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
