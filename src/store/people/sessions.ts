import type { Rotation } from '../../exchange/session';
import { sessionKey, walletSessionsKey } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';

/** The replies of rotate_session, by code. */
const KINDS = ['gone', 'rotated', 'replayed', 'reused'] as const;

/**
 * Sign-in sessions, one hash each (lua/rotate_session.lua documents its fields). Every method is one command or one
 * script, so it is atomic and takes effect on every replica before it returns. `SessionStore` of src/auth/sessions.ts
 * documents the methods.
 */
export function createSessionStore({ redis, run }: { redis: RedisClient; run: RunScript }) {
  return {
    open: async (sid: string, ttlSec: number): Promise<number> =>
      Number(await run('open_session', [sessionKey(sid)], [ttlSec * 1_000])),

    rotate: async (sid: string, presented: number, ttlSec: number, graceMs: number): Promise<Rotation> => {
      const reply = await run('rotate_session', [sessionKey(sid)], [presented, ttlSec * 1_000, graceMs]);
      const [code, generation = 0, atMs = 0] = reply.map(Number);
      const kind = KINDS[code ?? 0] ?? 'gone';
      return kind === 'rotated' || kind === 'replayed' ? { kind, generation, atMs } : { kind };
    },

    remember: async (address: string, sid: string, atMs: number, ttlSec: number): Promise<void> => {
      await run('list_session', [walletSessionsKey(address)], [sid, atMs, ttlSec * 1_000]);
    },

    sessionsOf: (address: string): Promise<string[]> => redis.zrange(walletSessionsKey(address), '0', '-1'),

    use: async (sid: string, generation: number): Promise<boolean> => {
      const key = sessionKey(sid);
      const [newest, over, noted] = await redis.hmget(key, 'n', 'over', 'noted');
      if (typeof newest !== 'string' || typeof over === 'string') return false;
      // Once for each pair; the first one supersedes nothing.
      if (generation > Number(noted ?? 1)) await run('note_pair', [key], [generation]);
      return true;
    },

    isLive: async (sid: string): Promise<boolean> => {
      const [newest, over] = await redis.hmget(sessionKey(sid), 'n', 'over');
      return typeof newest === 'string' && typeof over !== 'string';
    },

    revoke: async (sid: string): Promise<void> => {
      await redis.del(sessionKey(sid));
    },
  };
}
