import { Refusal } from '../../../exchange/errors';
import { MODES } from '../../../exchange/status';
import { unreadable } from '../../../store/health/layout';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import { readShards } from '../../shards/store/layout';
import { type ArchiveMark, checkArchive, cutBack } from './archive-mark';
import { type BackupOptions, checkedBackup, verifyBackup } from './backup';
import type { BackupHeader, BackupSummary } from './file';
import { ownKeys } from './keys';
import { clearOwn, loadPiece, setLife, throwFirst } from './load';

interface RestoreOptions {
  /** Replaces the exchange that is there. */
  readonly force: boolean;
  /** Also with an archive that lacks records. */
  readonly incomplete: boolean;
}

type Shards = BackupOptions['shards'];

/**
 * Writes a backup into a Redis. It reads and checks the whole file before it writes. It throws INVALID_REQUEST when the
 * file is of another exchange or of another number of shards, when a process of the exchange is running there, or when there is data
 * and `force` is not given. With `force` it first deletes that data. Afterwards the exchange is HALTED, as it was when it was copied,
 * and the archives have nothing that Redis has not given up. An archive that lacks records is refused, unless `incomplete` is given.
 *
 * Until everything is there every shard is HALTED, with a message that says why, also when this ends in the middle.
 */
export async function restoreBackup(
  options: BackupOptions,
  file: string,
  { force, incomplete }: RestoreOptions,
): Promise<BackupSummary & { readonly cut: number }> {
  const { redis, shards } = options;
  const { header, summary } = await verifyBackup(file);
  checkHeader(options, header);
  const marks = shards.length > 1 ? (header.archives ?? []) : [header.archive ?? null];
  if (!incomplete)
    for (const [shard, { archive }] of shards.entries())
      await checkArchive(archive, marks[shard] ?? null, shards.length > 1 ? shard : null);
  await checkTarget(options, force);
  await begin(redis, shards, header);
  const modes = await loadAll(redis, shards, file);
  // Rows of later batches are of records that are in Redis again, or that this Redis never had.
  const cut = incomplete ? 0 : await cutAll(shards, marks);
  // The first shard last: until then an operator reads there what happened.
  for (const { keys } of shards.toReversed()) await end(redis, keys, modes);
  return { ...summary, cut };
}

function checkHeader({ shards, chainId, exchange }: BackupOptions, header: BackupHeader): void {
  if (header.chainId !== chainId || header.exchange.toLowerCase() !== exchange.toLowerCase())
    refuse(
      `the backup belongs to another exchange (the contract ${header.exchange} on chain ${header.chainId}); configure that exchange or choose another file`,
    );
  const count = header.shards ?? 1;
  if (count !== shards.length)
    refuse(
      `the backup is of an exchange with SHARDS=${count}, and SHARDS is ${shards.length} here: restore it with SHARDS=${count}`,
    );
  const wrong = unreadable({ layout: header.layout ?? 1, oldest: header.oldestLayout ?? 1 });
  if (wrong !== null) refuse(`the backup cannot be restored: ${wrong}`);
}

/** Throws unless this Redis may be written. */
async function checkTarget({ redis, shards }: BackupOptions, force: boolean): Promise<void> {
  const busy = await Promise.all(
    shards.map(({ keys }) =>
      redis.exists(keys.lease, keys.relayLease, keys.archiveLease, keys.observerLease),
    ),
  );
  if (busy.some((leases) => leases > 0))
    refuse('web or worker processes are at work on this Redis: stop them first');
  const keysOf = shards.map(({ keys }) => keys);
  const present = (await ownKeys(redis, keysOf)).length;
  if (present === 0) return;
  // The keys of other shards would stay, unread.
  const { count, growing } = await readShards(redis, keysOf[0] as Keys);
  if (growing !== null)
    refuse(`this Redis holds an exchange that is getting ${growing} shards: use a Redis without an exchange`);
  if (count !== shards.length)
    refuse(
      `this Redis holds an exchange with SHARDS=${count}, and the backup has ${shards.length}: use a Redis without an exchange`,
    );
  if (!force) refuse(`this Redis holds an exchange already (${present} keys): --force replaces it`);
}

const HALTED_CODE = String(MODES.indexOf('HALTED'));

/** Halts every shard with a message, notes how many shards there will be, and removes everything else. */
async function begin(redis: RedisClient, shards: Shards, { createdAt }: BackupHeader): Promise<void> {
  const message = `a restore of the backup of ${createdAt} was not finished: restore it again with --force`;
  for (const { keys } of shards) {
    const replies = await redis
      .multi()
      .set(keys.mode, HALTED_CODE)
      .set(keys.notice, `${HALTED_CODE}${message}`)
      .set(keys.restoring, createdAt)
      .exec();
    throwFirst(replies);
  }
  const [first] = shards;
  // A process with another number of shards ends at its start, also when this ends before the number has been read from the file.
  if (first && shards.length > 1) await redis.hset(first.keys.shardCount, 'count', shards.length);
  const kept = new Set(shards.flatMap(({ keys }): string[] => [keys.mode, keys.notice, keys.shardCount]));
  for (const { keys } of shards) await clearOwn(redis, keys, kept);
}

/** The mode and its message of each shard, by their keys. */
type Modes = ReadonlyMap<string, Buffer>;

/** Writes everything but the modes, and returns these. */
async function loadAll(redis: RedisClient, shards: Shards, file: string): Promise<Modes> {
  const modes = new Map<string, Buffer>();
  const later = new Set(shards.flatMap(({ keys }): string[] => [keys.mode, keys.notice]));
  const lives = new Map<string, number>();
  for await (const read of checkedBackup(file)) {
    if (!('piece' in read)) continue;
    const { key, type, values, ttlMs } = read.piece;
    const name = Buffer.from(key, 'base64').toString('latin1');
    if (type === 'string' && later.has(name)) {
      const bytes = values.map((value) => Buffer.from(value, 'base64'));
      modes.set(name, Buffer.concat([modes.get(name) ?? Buffer.alloc(0), ...bytes]));
      continue;
    }
    if (ttlMs) lives.set(key, ttlMs);
    await loadPiece(redis, read.piece);
  }
  await setLife(redis, lives);
  return modes;
}

async function cutAll(shards: Shards, marks: readonly (ArchiveMark | null)[]): Promise<number> {
  let cut = 0;
  for (const [shard, { archive }] of shards.entries()) {
    const mark = marks[shard];
    if (mark && archive) cut += await cutBack(archive, mark);
  }
  return cut;
}

/** Leaves a shard HALTED, with the message of the backup if it was; it is whole now. */
async function end(redis: RedisClient, keys: Keys, modes: Modes): Promise<void> {
  const together = redis.multi().set(keys.mode, HALTED_CODE);
  const notice = modes.get(keys.notice);
  // A replica is copied while the exchange trades.
  if (notice && modes.get(keys.mode)?.toString() === HALTED_CODE) together.set(keys.notice, notice);
  else together.del(keys.notice);
  throwFirst(await together.del(keys.restoring, keys.epoch).exec());
}

function refuse(why: string): never {
  throw new Refusal('INVALID_REQUEST', why);
}
