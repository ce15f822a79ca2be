import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../../exchange/errors';
import { readMode } from '../../../store/health/health';
import { readLayout } from '../../../store/health/layout';
import { createKeys, type Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import type { Archive } from '../../archive/archive';
import { type ArchiveMark, readArchiveMark } from './archive-mark';
import { createPieceCheck } from './check';
import { drainChannels } from './drain';
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

export interface BackupOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  /** All shards of the exchange; one, unless it has several. */
  readonly shards: readonly { readonly keys: Keys; readonly archive: Archive | null }[];
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
 * Copies the data of an exchange whose shards are all HALTED, because the two readings of `writeCopy` agree only while nothing trades.
 * Collateral on its way between shards is taken first.
 */
export async function writeBackup(options: BackupOptions, file: string): Promise<Written> {
  const { redis, run } = options;
  const shards = options.shards.map(({ keys }) => keys);
  await checkHalted(redis, shards);
  await drainChannels({ redis, run, shards });
  return writeCopy(options, file);
}

type Written = BackupSummary & { readonly archives: readonly (ArchiveMark | null)[] };

/**
 * Copies data in bounded steps, and then reads all of it once more. Data that is equal in both readings did not change in between, so the
 * copy is the state of one moment between the two. Throws UNAVAILABLE when data changed during five attempts.
 */
export async function writeCopy(options: BackupOptions, file: string): Promise<Written> {
  const { redis, now } = options;
  const shards = options.shards.map(({ keys }) => keys);
  const createdAt = new Date(now()).toISOString();
  const archives = await Promise.all(shards.map((keys) => readArchiveMark(redis, keys)));
  const header = await headerOf(options, createdAt, archives);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const out = await createBackupFile(file, header);
    try {
      const copied = await readAll(redis, shards, (piece) => out.write(piece));
      const again = await readAll(redis, shards, ignore);
      if (isSame(copied, again)) return { ...(await out.finish(copied.size)), archives };
    } catch (error) {
      await out.abandon();
      throw error;
    }
    await out.abandon();
    await sleep(PAUSE_MS);
  }
  throw new Refusal('UNAVAILABLE', 'the exchange still changes; try again in a moment');
}

/** Throws HALTED unless every shard is. */
export async function checkHalted(redis: RedisClient, shards: readonly Keys[]): Promise<void> {
  const modes = await Promise.all(shards.map((keys) => readMode(redis, keys)));
  const others = [...modes.keys()].filter((shard) => modes[shard]?.mode !== 'HALTED');
  if (others.length === 0) return;
  // The mode of an exchange is set in every shard, and one that was away gets it from the worker.
  const which = others.length < shards.length ? ` (not yet in shard ${others.join(', ')})` : '';
  throw new Refusal(
    'HALTED',
    `a backup needs the mode HALTED${which}, so that nothing moves under it: --halt sets it for as long as the copy takes`,
  );
}

/** The header of one shard has no member that an older program does not know. */
async function headerOf(
  { redis, shards, chainId, exchange }: BackupOptions,
  createdAt: string,
  archives: readonly (ArchiveMark | null)[],
): Promise<BackupHeader> {
  const layouts = await Promise.all(shards.map(({ keys }) => readLayout(redis, keys)));
  const [archive] = archives;
  return {
    ...({ format: BACKUP_FORMAT, version: BACKUP_VERSION, createdAt, chainId, exchange } as const),
    layout: Math.max(...layouts.map(({ layout }) => layout)),
    oldestLayout: Math.max(...layouts.map(({ oldest }) => oldest)),
    ...(shards.length > 1 ? { shards: shards.length, archives } : archive ? { archive } : {}),
  };
}

/** Returns every key with the sum of its content; null for a key that may expire. */
async function readAll(
  redis: RedisClient,
  shards: readonly Keys[],
  use: (piece: BackupPiece) => Promise<void>,
): Promise<Map<string, string | null>> {
  const sums = new Map<string, string | null>();
  const restless = new Set(shards.flatMap((keys) => [...restlessKeys(keys)]));
  for (const key of await ownKeys(redis, shards)) {
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

/** The header, then every piece of the file, checked, then its end. Throws BadBackup. */
export async function* checkedBackup(
  file: string,
): AsyncGenerator<{ header: BackupHeader } | { piece: BackupPiece } | { end: BackupSummary }> {
  let check = createPieceCheck([]);
  for await (const read of readBackupFile(file)) {
    if ('header' in read) check = createPieceCheck(shardsOf(read.header));
    if ('end' in read && read.end.keys !== check.keys()) {
      throw new BadBackup(`it has ${check.keys()} keys, and had ${read.end.keys}`);
    }
    yield 'piece' in read ? { piece: check.take(read.piece) } : read;
  }
}

const shardsOf = ({ shards = 1 }: BackupHeader): Keys[] =>
  Array.from({ length: shards }, (_, shard) => createKeys(shard));

/** Reads the whole file, which may come from anywhere, and checks every piece of it. Throws BadBackup. */
export async function verifyBackup(file: string): Promise<{ header: BackupHeader; summary: BackupSummary }> {
  let [header, summary]: [BackupHeader | null, BackupSummary | null] = [null, null];
  for await (const read of checkedBackup(file)) {
    if ('header' in read) header = read.header;
    else if ('end' in read) summary = read.end;
  }
  if (!header || !summary) throw new BadBackup('it is empty');
  return { header, summary };
}
