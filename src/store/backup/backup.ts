import { setTimeout as sleep } from 'node:timers/promises';
import type { Archive } from '../../exchange/archive';
import { Refusal } from '../../exchange/errors';
import { readMode } from '../health/health';
import { readLayout, unreadable } from '../health/layout';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import { type ArchiveMark, checkArchive, cutBack, readArchiveMark } from './archive-mark';
import { createPieceCheck } from './check';
import {
  BACKUP_FORMAT,
  BACKUP_VERSION,
  type BackupHeader,
  type BackupPiece,
  type BackupSummary,
  BadBackup,
  createBackupFile,
  readBackupFile,
} from './file';
import { ownKeys, readKey, restlessKeys } from './keys';
import { clearOwn, loadPiece, setLife } from './load';

interface BackupOptions {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly archive: Archive | null;
  /** The chain and contract for which the orders were signed. */
  readonly chainId: number;
  readonly exchange: string;
  readonly now: () => number;
}

/** The number of times that a copy starts again because data changed meanwhile. */
const TRIES_MAX = 5;
/** After this pause the worker has finished its work in progress. */
const PAUSE_MS = 1_000;

const ignore = async (): Promise<void> => undefined;

/**
 * Copies the data of the exchange in bounded steps, and then reads all of it once more. Data that is equal in both readings
 * did not change in between, so the copy is the state of one moment between the two. The readings agree only while
 * nothing trades: the mode must be HALTED. Throws UNAVAILABLE when data changed during five attempts.
 */
export async function writeBackup(
  options: BackupOptions,
  file: string,
): Promise<BackupSummary & { readonly archive: ArchiveMark | null }> {
  const { redis, keys, chainId, exchange, now } = options;
  if ((await readMode(redis, keys)).mode !== 'HALTED') {
    throw new Refusal(
      'HALTED',
      'a backup needs the mode HALTED, so that nothing moves under it: --halt sets it for as long as the copy takes',
    );
  }
  const createdAt = new Date(now()).toISOString();
  const { layout, oldest } = await readLayout(redis, keys);
  const archive = await readArchiveMark(redis, keys);
  const header = {
    ...({ format: BACKUP_FORMAT, version: BACKUP_VERSION, createdAt, chainId, exchange } as const),
    ...{ layout, oldestLayout: oldest, ...(archive ? { archive } : {}) },
  };
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const out = await createBackupFile(file, header);
    try {
      const copied = await readAll(options, (piece) => out.write(piece));
      const again = await readAll(options, ignore);
      if (isSame(copied, again)) return { ...(await out.finish(copied.size)), archive };
    } catch (error) {
      await out.abandon();
      throw error;
    }
    await out.abandon();
    await sleep(PAUSE_MS);
  }
  throw new Refusal('UNAVAILABLE', 'the exchange still changes; try again in a moment');
}

/** Returns every key with the sum of its content; null for a key that may expire. */
async function readAll(
  { redis, keys }: BackupOptions,
  use: (piece: BackupPiece) => Promise<void>,
): Promise<Map<string, string | null>> {
  const sums = new Map<string, string | null>();
  const restless = restlessKeys(keys);
  for (const key of await ownKeys(redis, keys)) {
    const { sum, isThere } = await readKey(redis, key, use);
    const name = key.toString('latin1');
    if (isThere) sums.set(name, restless.has(name) ? null : sum);
  }
  return sums;
}

function isSame(
  first: ReadonlyMap<string, string | null>,
  second: ReadonlyMap<string, string | null>,
): boolean {
  const lasting = (sums: ReadonlyMap<string, string | null>) => [...sums].filter(([, sum]) => sum !== null);
  const [before, now] = [lasting(first), lasting(second)];
  return before.length === now.length && before.every(([key, sum]) => second.get(key) === sum);
}

async function* checkedBackup(
  file: string,
  keys: ShardKeys,
): AsyncGenerator<{ header: BackupHeader } | { piece: BackupPiece } | { end: BackupSummary }> {
  const check = createPieceCheck(keys);
  for await (const read of readBackupFile(file)) {
    if ('end' in read && read.end.keys !== check.keys()) {
      throw new BadBackup(`it has ${check.keys()} keys, and had ${read.end.keys}`);
    }
    yield 'piece' in read ? { piece: check.take(read.piece) } : read;
  }
}

/** Reads the whole file, which may come from anywhere, and checks every piece of it. Throws BadBackup. */
export async function verifyBackup(
  file: string,
  keys: ShardKeys,
): Promise<{ header: BackupHeader; summary: BackupSummary }> {
  let [header, summary]: [BackupHeader | null, BackupSummary | null] = [null, null];
  for await (const read of checkedBackup(file, keys)) {
    if ('header' in read) header = read.header;
    else if ('end' in read) summary = read.end;
  }
  if (!header || !summary) throw new BadBackup('it is empty');
  return { header, summary };
}

/**
 * Writes a backup into a Redis. It reads and checks the whole file before it writes. It throws INVALID_REQUEST when the
 * file is of another exchange, when a process of the exchange is running there, or when there is data and `force` is not
 * given. With `force` it first deletes that data. Afterwards the exchange is HALTED, as it was when it was copied, and the
 * archive has nothing that Redis has not given up. An archive that lacks records is refused, unless `incomplete` is given.
 */
export async function restoreBackup(
  options: BackupOptions,
  file: string,
  { force, incomplete }: { readonly force: boolean; readonly incomplete: boolean },
): Promise<BackupSummary & { readonly cut: number }> {
  const { redis, keys, archive, chainId, exchange } = options;
  const { header, summary } = await verifyBackup(file, keys);
  if (header.chainId !== chainId || header.exchange.toLowerCase() !== exchange.toLowerCase()) {
    const other = `the contract ${header.exchange} on chain ${header.chainId}`;
    throw new Refusal(
      'INVALID_REQUEST',
      `the backup belongs to another exchange (${other}); configure that exchange or choose another file`,
    );
  }
  const wrong = unreadable({ layout: header.layout ?? 1, oldest: header.oldestLayout ?? 1 });
  if (wrong !== null) throw new Refusal('INVALID_REQUEST', `the backup cannot be restored: ${wrong}`);
  const mark = header.archive ?? null;
  if (!incomplete) await checkArchive(archive, mark);
  if ((await redis.exists(keys.lease, keys.relayLease, keys.archiveLease, keys.observerLease)) > 0) {
    throw new Refusal(
      'INVALID_REQUEST',
      'web or worker processes are at work on this Redis: stop them first',
    );
  }
  const present = (await ownKeys(redis, keys)).length;
  if (present > 0 && !force) {
    throw new Refusal(
      'INVALID_REQUEST',
      `this Redis holds an exchange already (${present} keys): --force replaces it`,
    );
  }
  await redis.set(keys.restoring, header.createdAt);
  await clearOwn(redis, keys);
  const lives = new Map<string, number>();
  for await (const read of checkedBackup(file, keys)) {
    if (!('piece' in read)) continue;
    if (read.piece.ttlMs) lives.set(read.piece.key, read.piece.ttlMs);
    await loadPiece(redis, read.piece);
  }
  await setLife(redis, lives);
  // Rows of later batches are of records that are in Redis again, or that this Redis never had.
  const cut = mark && archive && !incomplete ? await cutBack(archive, mark) : 0;
  await redis.del(keys.restoring, keys.epoch);
  return { ...summary, cut };
}
