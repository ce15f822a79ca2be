import { Redis } from 'ioredis';
import { type AbuseRow, benchAbuse } from './abuse';
import { type ArchiveRow, benchArchive } from './archive';
import { benchEngine, type EngineRow } from './engine';
import { benchInstructions, type InstructionsRow, instructionsLines } from './instructions';
import { benchKeepUp, type KeepUpRow } from './keep-up';
import type { Line } from './line';
import { withoutWorker } from './no-worker';
import { benchReads, type ReadsRow } from './reads';
import { benchRealtime, type RealtimeRow } from './realtime';
import { benchRestore, type RestoreRow, restoreLines } from './restore';
import { benchSettle, type SettleRow, settleLines } from './settle';
import { benchShards, type ShardsRow } from './shards';
import type { Size } from './size';
import { benchSubmit, type SubmitRow } from './submit';
import * as targets from './targets';
import { abuseLines } from './targets-abuse';
import { archiveLines } from './targets-archive';
import { benchWebAgainst, type WebAgainstRow, webAgainstLines } from './web-against';

export interface Wishes {
  /** The URL of a separate Redis for the suite. */
  readonly redisUrl: string;
  readonly deadlineMs: number;
  readonly size: Size;
  /** Folder of the tree to compare with; null for none. */
  readonly against: string | null;
}

export type Detail = Readonly<Record<string, unknown>>;
/** Reports details as soon as they are known, and returns their lines of the table. */
export type Suite = (wishes: Wishes, tell: (detail: Detail) => void) => Promise<Line[]>;

function suite<Row extends object>(
  run: (wishes: Wishes, emit: (row: Row) => void, tell: (detail: Detail) => void) => Promise<void>,
  lines: (rows: readonly Row[]) => Line[],
): Suite {
  return async (wishes, tell) => {
    const rows: Row[] = [];
    const emit = (row: Row): void => {
      rows.push(row);
      tell({ ...row } as Detail);
    };
    await run(wishes, emit, tell);
    return lines(rows);
  };
}

async function withRedis(url: string, run: (redis: Redis) => Promise<void>): Promise<void> {
  const redis = new Redis(url);
  try {
    await run(redis);
  } finally {
    redis.disconnect();
  }
}

/** Runs a suite of web processes alone, without a worker. */
async function unsettled(url: string, run: () => Promise<void>): Promise<void> {
  await withRedis(url, async (redis) => {
    await withoutWorker(redis);
    await run();
  });
}

/** In the order of the table. To add a suite, add a file, its lines in targets.ts, and an entry here. */
export const SUITES: Readonly<Record<string, Suite>> = {
  submit: suite<SubmitRow>(
    ({ redisUrl, size, deadlineMs }, emit) =>
      unsettled(redisUrl, () => benchSubmit(redisUrl, size, deadlineMs, emit)),
    targets.submitLines,
  ),
  reads: suite<ReadsRow>(
    ({ redisUrl, size, deadlineMs }, emit) => benchReads(redisUrl, size, deadlineMs, emit),
    targets.readsLines,
  ),
  engine: suite<EngineRow>(
    ({ redisUrl, size, deadlineMs }, emit) =>
      withRedis(redisUrl, (redis) => benchEngine(redis, size, deadlineMs, emit)),
    targets.engineLines,
  ),
  instructions: suite<InstructionsRow>(
    ({ against, size }, emit) => benchInstructions(against, size, emit),
    instructionsLines,
  ),
  'web-against': suite<WebAgainstRow>(
    ({ against, size, deadlineMs }, emit) => benchWebAgainst(against, size, deadlineMs, emit),
    webAgainstLines,
  ),
  realtime: suite<RealtimeRow>(
    ({ redisUrl, size, deadlineMs }, emit) => benchRealtime(redisUrl, size, deadlineMs, emit),
    targets.realtimeLines,
  ),
  'keep-up': suite<KeepUpRow>(
    ({ redisUrl, size, deadlineMs }, emit) => benchKeepUp(redisUrl, size, deadlineMs, emit),
    targets.keepUpLines,
  ),
  shards: suite<ShardsRow>(
    ({ size, deadlineMs }, emit) => benchShards(size, deadlineMs, emit),
    targets.shardsLines,
  ),
  archive: suite<ArchiveRow>(({ redisUrl, size }, emit) => benchArchive(redisUrl, size, emit), archiveLines),
  restore: suite<RestoreRow>(({ redisUrl, size }, emit) => benchRestore(redisUrl, size, emit), restoreLines),
  settle: suite<SettleRow>(({ size }, emit) => benchSettle(size, emit), settleLines),
  abuse: suite<AbuseRow>(({ redisUrl, size }, emit) => benchAbuse(redisUrl, size, emit), abuseLines),
};
