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
import { benchSettle, type SettleRow, settleLines } from './settle';
import { benchShards, type ShardsRow } from './shards';
import { benchSubmit, type SubmitRow } from './submit';
import * as targets from './targets';
import { abuseLines } from './targets-abuse';
import { archiveLines } from './targets-archive';
import { benchWebAgainst, type WebAgainstRow, webAgainstLines } from './web-against';

export interface Wishes {
  /** The URL of a separate Redis for the suite. */
  readonly redisUrl: string;
  readonly deadlineMs: number;
  /** Long sizes. */
  readonly full: boolean;
  /** Folder of the tree to compare with; null for none. */
  readonly against: string | null;
}

export type Detail = Readonly<Record<string, unknown>>;
/** Reports details as soon as they are known, and returns their lines of the table. */
export type Suite = (wishes: Wishes, tell: (detail: Detail) => void) => Promise<Line[]>;

const DEPTHS_SHORT = [10, 10_000];
const KEEP_UP_SECONDS = { short: { http: 10, step: 7 }, full: { http: 30, step: 15 } };

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
    ({ redisUrl, deadlineMs }, emit) => unsettled(redisUrl, () => benchSubmit(redisUrl, deadlineMs, emit)),
    targets.submitLines,
  ),
  reads: suite<ReadsRow>(
    ({ redisUrl, deadlineMs }, emit) => benchReads(redisUrl, deadlineMs, emit),
    targets.readsLines,
  ),
  engine: suite<EngineRow>(
    ({ redisUrl, deadlineMs, full }, emit) =>
      withRedis(redisUrl, (redis) => benchEngine(redis, deadlineMs, emit, full ? undefined : DEPTHS_SHORT)),
    targets.engineLines,
  ),
  instructions: suite<InstructionsRow>(
    ({ against }, emit) => benchInstructions(against, emit),
    instructionsLines,
  ),
  'web-against': suite<WebAgainstRow>(
    ({ against, deadlineMs }, emit) => benchWebAgainst(against, deadlineMs, emit),
    webAgainstLines,
  ),
  realtime: suite<RealtimeRow>(
    ({ redisUrl, deadlineMs }, emit) => benchRealtime(redisUrl, deadlineMs, emit),
    targets.realtimeLines,
  ),
  'keep-up': suite<KeepUpRow>(
    ({ redisUrl, deadlineMs, full }, emit) =>
      benchKeepUp(redisUrl, deadlineMs, emit, KEEP_UP_SECONDS[full ? 'full' : 'short']),
    targets.keepUpLines,
  ),
  shards: suite<ShardsRow>(({ deadlineMs }, emit) => benchShards(deadlineMs, emit), targets.shardsLines),
  archive: suite<ArchiveRow>(({ redisUrl, full }, emit) => benchArchive(redisUrl, full, emit), archiveLines),
  settle: suite<SettleRow>(({ full }, emit) => benchSettle(full, emit), settleLines),
  abuse: suite<AbuseRow>(({ redisUrl }, emit) => benchAbuse(redisUrl, emit), abuseLines),
};
