import { NO_ENTRY } from '../../../store/redis/entry-id';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import type { BackupPiece } from './file';
import { ownKeys } from './keys';

/** Elements of one command. */
const STEP = 1_000;
/** Keys removed in one command. */
const UNLINK_STEP = 100;

type Command = [name: string, ...args: (string | Buffer | number)[]];

/** Removes everything that a shard keeps, but these keys; Redis frees it behind the back of its commands. */
export async function clearOwn(redis: RedisClient, keys: Keys, kept: ReadonlySet<string>): Promise<void> {
  const names = (await ownKeys(redis, [keys])).filter((name) => !kept.has(name.toString('latin1')));
  for (let from = 0; from < names.length; from += UNLINK_STEP) {
    const pipeline = redis.pipeline();
    for (const name of names.slice(from, from + UNLINK_STEP)) pipeline.unlink(name);
    throwFirst(await pipeline.exec());
  }
}

/** Writes one piece of a key behind those before it. */
export async function loadPiece(redis: RedisClient, piece: BackupPiece): Promise<void> {
  const pipeline = redis.pipeline();
  for (const command of commandsOf(piece)) pipeline.call(...command);
  if (pipeline.length > 0) throwFirst(await pipeline.exec());
}

/** Throws the first failure of commands that were sent together. */
export function throwFirst(replies: readonly [Error | null, unknown][] | null): void {
  for (const [error] of replies ?? []) if (error) throw error;
}

function commandsOf(piece: BackupPiece): Command[] {
  const key = Buffer.from(piece.key, 'base64');
  const values = piece.values.map((text) => Buffer.from(text, 'base64'));
  switch (piece.type) {
    case 'hash':
      return chunks(values).map((part): Command => ['HSET', key, ...part]);
    case 'zset':
      return chunks(values).map((part): Command => ['ZADD', key, ...swapped(part)]);
    case 'set':
      return chunks(values).map((part): Command => ['SADD', key, ...part]);
    case 'list':
      return chunks(values).map((part): Command => ['RPUSH', key, ...part]);
    case 'string':
      return values.map((part): Command => ['APPEND', key, part]);
    case 'stream':
      return [...entriesOf(key, values), ...endOf(key, piece)];
  }
}

const chunks = (values: readonly Buffer[]): Buffer[][] =>
  Array.from({ length: Math.ceil(values.length / STEP) }, (_, i) => values.slice(i * STEP, (i + 1) * STEP));

/** A reply has the member first, ZADD the score. */
const swapped = (flat: readonly Buffer[]): Buffer[] =>
  flat.map((_, i) => flat[i % 2 === 0 ? i + 1 : i - 1] as Buffer);

const entriesOf = (key: Buffer, flat: readonly Buffer[]): Command[] =>
  Array.from({ length: flat.length / 3 }, (_, i) => {
    const [id, field, value] = flat.slice(3 * i, 3 * i + 3) as [Buffer, Buffer, Buffer];
    return ['XADD', key, id, field, value];
  });

/** The end of a stream goes on where it was, also when everything before it was trimmed. */
function endOf(key: Buffer, { lastId, added }: BackupPiece): Command[] {
  if (lastId === undefined || added === undefined || lastId === NO_ENTRY) return [];
  return [
    // A stream that has no entry is there only when one was added.
    ['XGROUP', 'CREATE', key, 'restoring', '$', 'MKSTREAM'],
    ['XGROUP', 'DESTROY', key, 'restoring'],
    ['XSETID', key, lastId, 'ENTRIESADDED', added],
  ];
}

/** A key that has a time to live gets what was left of it. */
export async function setLife(redis: RedisClient, lives: ReadonlyMap<string, number>): Promise<void> {
  for (const [key, ttlMs] of lives) await redis.pexpire(Buffer.from(key, 'base64'), ttlMs);
}
