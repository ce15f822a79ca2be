import { randomUUID } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { Refusal } from '../exchange/errors';
import { isFull, isRedisUnreachable } from '../store/redis/unreachable';
import type { CliStore } from './store';

interface Doing {
  /** Method and path of the HTTP operation that does the same, or the words of the command. */
  readonly action: string;
  readonly path: string;
  readonly body?: unknown;
  /** What an operator does when Redis did not answer, so that the command may have been done; by default repeat it. */
  readonly unsure?: string;
}

const REPEAT = 'repeat the command, which does no harm';
export const lookOrRepeat = (command: string): string => `see "${command}", or ${REPEAT}`;

/**
 * Runs a command that changes data, and records it in the operators' log: before it runs, and again with its result. The
 * entry is the same as over HTTP; its origin is `local` and its operator the user who runs the command.
 */
export async function recorded<T>({ actions }: CliStore, doing: Doing, act: () => Promise<T>): Promise<T> {
  const entry = entryOf(doing);
  await actions.note(entry).catch((error: unknown) => {
    throw withOutcome(error, `nothing was done; ${REPEAT}`);
  });
  // The action is done or refused; an entry without its end does not change that.
  const end = (status: number, code: string | null): Promise<void> =>
    actions.note({ ...entry, status, code }).catch(() => undefined);
  try {
    const result = await act();
    await end(200, null);
    return result;
  } catch (error) {
    const refusal = error instanceof Refusal ? error : new Refusal('INTERNAL');
    await end(refusal.status, refusal.code);
    throw withOutcome(error, `it may have been done: ${doing.unsure ?? REPEAT}`);
  }
}

/** Records a command that is done, and could not be recorded before. */
export async function recordDone({ actions }: CliStore, doing: Doing): Promise<void> {
  await actions.note({ ...entryOf(doing), status: 200 }).catch(() => undefined);
}

/** The read with which a command that has changed data shows what it did. */
export async function afterwards<T>(read: Promise<T>): Promise<T> {
  return read.catch((error: unknown) => {
    throw withOutcome(error, 'the command was done, and only its result could not be read');
  });
}

/** What became of the command, behind an error of Redis that does not say it. */
function withOutcome(error: unknown, outcome: string): unknown {
  if (!(error instanceof Error) || !isRedisUnreachable(error) || isFull(error)) return error;
  return new Error(`Redis: ${error.message}; ${outcome}`, { cause: error });
}

function entryOf({ action, path, body = {} }: Doing) {
  const id = randomUUID();
  return { id, requestId: id, action, path, body, address: 'local', agent: who(), status: null, code: null };
}

function who(): string {
  try {
    return `exchange cli, ${userInfo().username}@${hostname()}`;
  } catch {
    return `exchange cli, ${hostname()}`;
  }
}
