import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import type { BackupPiece, KeyType } from './file';

/** Members, fields or entries of one step, and bytes of a string; a step takes Redis some hundred microseconds. */
const STEP = 500;
const STRING_STEP = 262_144;
const SCAN_STEP = 1_000;

/**
 * Not copied: the leases, the epoch and the times of backups, because another Redis that holds the data has its own; the mark of a
 * restore in progress; and what is in blocks that are not final and the leaderboard, because they are read and made again.
 */
export const volatileKeys = (keys: Keys): ReadonlySet<string> =>
  new Set([
    ...[keys.lease, keys.relayLease, keys.archiveLease, keys.observerLease],
    ...[keys.epoch, keys.restoring, keys.mined, keys.runs, keys.leaderboard],
  ]);

/**
 * They change even while nothing trades: the wallets that are present, the positions of the outbox's readers, whether the
 * archive has read all orders, and the leases of the operator's lanes. No order leaves for the archive while the exchange is HALTED.
 */
export const restlessKeys = (keys: Keys): ReadonlySet<string> =>
  new Set([keys.absences, keys.readers, keys.accountMarks, keys.archive, keys.lanes]);

/** Every key of several shards begins so, and few keys of other programs. */
const SHARDS_PATTERN = '{x*';

/** Returns the names of all keys of these shards in a fixed order, and no keys of other programs in the same Redis. */
export async function ownKeys(redis: RedisClient, shards: readonly Keys[]): Promise<Buffer[]> {
  const nodes: Redis[] = 'nodes' in redis ? redis.nodes('master') : [redis];
  const found = new Map<string, Buffer>();
  const prefixes = new Set(shards.map(({ prefix }) => prefix));
  const skipped = new Set(shards.flatMap((keys) => [...volatileKeys(keys)]));
  const pattern = shards.length === 1 ? `${shards[0]?.prefix}*` : SHARDS_PATTERN;
  for (const node of nodes) {
    let cursor = '0';
    do {
      const [next, names] = await node.scanBuffer(cursor, 'MATCH', pattern, 'COUNT', SCAN_STEP);
      for (const name of names) found.set(name.toString('latin1'), name);
      cursor = next.toString();
    } while (cursor !== '0');
  }
  return [...found]
    .filter(([name]) => prefixes.has(prefixOf(name)) && !skipped.has(name))
    .sort(byName)
    .map(([, name]) => name);
}

/** The hash tag of a key with what encloses it. */
export const prefixOf = (name: string): string => name.slice(0, name.indexOf('}:') + 2);

const byName = ([a]: [string, Buffer], [b]: [string, Buffer]): number => (a < b ? -1 : a > b ? 1 : 0);

/** Adds up the content of a key, in any order. */
export interface Sum {
  add(...parts: readonly (Buffer | string)[]): void;
  text(): string;
}

function createSum(): Sum {
  let [total, count] = [0n, 0];
  return {
    add(...parts) {
      const digest = createHash('sha1');
      for (const part of parts) digest.update(`${part.length} `).update(part);
      total += digest.digest().readBigUInt64BE(0);
      count++;
    },
    text: () => `${total.toString(16)} in ${count}`,
  };
}

type Use = (piece: BackupPiece) => Promise<void>;
export interface ReadKey {
  /** Equal while the key has not changed; null for a key that may expire. */
  readonly sum: string | null;
  readonly isThere: boolean;
}

/** Reads one key in bounded steps. Streams are only added to and trimmed: their end says whether they changed. */
export async function readKey(redis: RedisClient, key: Buffer, use: Use): Promise<ReadKey> {
  const type = (await redis.type(key)) as KeyType | 'none';
  if (type === 'none') return { sum: null, isThere: false };
  const ttlMs = Math.max(0, await redis.pttl(key));
  const piece = (values: readonly Buffer[], more: Partial<BackupPiece> = {}): Promise<void> =>
    use({ key: base64(key), type, values: values.map(base64), ...more });
  await piece([], { ttlMs });
  const sum = createSum();
  switch (type) {
    case 'stream':
      await readStream(redis, key, sum, piece);
      break;
    case 'string':
      await readString(redis, key, sum, piece);
      break;
    case 'list':
      await readList(redis, key, sum, piece);
      break;
    case 'hash':
    case 'zset':
    case 'set':
      await readMembers(redis, key, type, sum, piece);
      break;
    default:
      throw new Error(`${key.toString('latin1')} is a ${String(type)}, which no backup knows`);
  }
  return { sum: ttlMs > 0 ? null : `${type} ${sum.text()}`, isThere: true };
}

type Piece = (values: readonly Buffer[], more?: Partial<BackupPiece>) => Promise<void>;
export const base64 = (bytes: Buffer): string => bytes.toString('base64');

async function readMembers(
  redis: RedisClient,
  key: Buffer,
  type: 'hash' | 'zset' | 'set',
  sum: Sum,
  piece: Piece,
): Promise<void> {
  const width = type === 'set' ? 1 : 2;
  let cursor = '0';
  do {
    const [next, flat] =
      type === 'hash'
        ? await redis.hscanBuffer(key, cursor, 'COUNT', STEP)
        : type === 'zset'
          ? await redis.zscanBuffer(key, cursor, 'COUNT', STEP)
          : await redis.sscanBuffer(key, cursor, 'COUNT', STEP);
    for (let i = 0; i < flat.length; i += width) sum.add(...flat.slice(i, i + width));
    if (flat.length > 0) await piece(flat);
    cursor = next.toString();
  } while (cursor !== '0');
}

async function readList(redis: RedisClient, key: Buffer, sum: Sum, piece: Piece): Promise<void> {
  for (let from = 0; ; from += STEP) {
    const members = await redis.lrangeBuffer(key, from, from + STEP - 1);
    for (const [i, member] of members.entries()) sum.add(String(from + i), member);
    if (members.length > 0) await piece(members);
    if (members.length < STEP) return;
  }
}

async function readString(redis: RedisClient, key: Buffer, sum: Sum, piece: Piece): Promise<void> {
  const length = await redis.strlen(key);
  for (let at = 0; at < length; at += STRING_STEP) {
    const bytes = await redis.getrangeBuffer(key, at, at + STRING_STEP - 1);
    sum.add(String(at), bytes);
    await piece([bytes]);
  }
}

async function readStream(redis: RedisClient, key: Buffer, sum: Sum, piece: Piece): Promise<void> {
  const info = (await redis.call('XINFO', 'STREAM', key)) as unknown[];
  const of = (name: string): unknown => info[info.indexOf(name) + 1];
  const [lastId, added] = [String(of('last-generated-id')), Number(of('entries-added'))];
  sum.add(lastId, String(added));
  let from = '-';
  for (;;) {
    const entries = await redis.xrangeBuffer(key, from, lastId, 'COUNT', STEP);
    const flat = entries.flatMap(([id, fields]) => {
      if (fields.length !== 2) throw new Error(`an entry of ${key.toString('latin1')} has several fields`);
      return [id, ...fields];
    });
    if (flat.length > 0) await piece(flat);
    if (entries.length < STEP) break;
    from = `(${entries.at(-1)?.[0].toString()}`;
  }
  await piece([], { lastId, added });
}
