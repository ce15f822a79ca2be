import { Refusal } from '../../exchange/errors';
import type { Keys } from '../redis/keys';
import type { RunScript } from '../redis/scripts';

/** An operator's request, and its result. */
export interface Action {
  /** UUID. */
  readonly id: string;
  readonly requestId: string;
  /** Method and path as documented: 'POST /admin/markets/{id}/void'. */
  readonly action: string;
  /** The requested path. */
  readonly path: string;
  /** The body as sent; long texts are shortened. */
  readonly body: unknown;
  /** The caller: its address, and its user agent. */
  readonly address: string;
  readonly agent: string | null;
  /** Null while the action is in progress, and permanently if its process died. */
  readonly status: number | null;
  /** The code of a refusal. */
  readonly code: string | null;
}

interface KeptAction extends Action {
  readonly atMs: number;
}

export interface Actions {
  /** Stores an action before it runs, and again with its status when it has ended. */
  note(action: Action): Promise<void>;
  /** Newest first; throws INVALID_CURSOR. */
  list(page: { limit: number; cursor: string | null }): Promise<{
    actions: readonly KeptAction[];
    next: string | null;
  }>;
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The operators' log. */
export function createActions({ run, keys }: { run: RunScript; keys: Keys }): Actions {
  const logKeys = [keys.actions, keys.actionRecords] as const;
  return {
    async note({ id, ...known }: Action): Promise<void> {
      await run('note_action', logKeys, [id, JSON.stringify(known)]);
    },

    async list(page: { limit: number; cursor: string | null }): Promise<{
      actions: readonly KeptAction[];
      next: string | null;
    }> {
      if (page.cursor !== null && !ID.test(page.cursor)) throw new Refusal('INVALID_CURSOR');
      const reply = await run('read_actions', logKeys, [page.limit + 1, page.cursor ?? '']);
      const found = reply.map(
        ([id, ms, text]): KeptAction => ({
          ...(JSON.parse(text.toString()) as Action),
          id: id.toString(),
          atMs: Number(ms),
        }),
      );
      const actions = found.slice(0, page.limit);
      return { actions, next: found.length > page.limit ? (actions.at(-1)?.id ?? null) : null };
    },
  };
}
