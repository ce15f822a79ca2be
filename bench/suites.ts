import { Redis } from 'ioredis';
import { startPostgres } from '../test/support/postgres-server';
import { type AbuseRow, benchAbuse } from './abuse';
import { type ArchiveRow, benchArchive } from './archive';
import { type AuditRow, benchAudit } from './audit';
import { benchContractWallets, type ContractWalletsRow, contractWalletsLines } from './contract-wallets';
import { benchCosts, type CostRow } from './costs';
import { benchEngine, type EngineRow } from './engine';
import { benchExpiry, type ExpiryRow } from './expiry';
import { benchForeign, type ForeignRow } from './foreign';
import { benchGrow, type GrowRow } from './grow';
import { benchInstructions, type InstructionsRow, instructionsLines } from './instructions';
import { benchKeepUp, type KeepUpRow } from './keep-up';
import type { Line } from './line';
import { withoutWorker } from './no-worker';
import { benchPage, type PageRow, pageLines } from './page';
import { benchPersistence, type PersistenceRow } from './persistence';
import { benchPulls, type PullsRow } from './pulls';
import { benchReads, type ReadsRow } from './reads';
import { benchRealtime, type RealtimeRow } from './realtime';
import { benchScale, type ScaleRow } from './scale';
import { benchSettle, type SettleRow, settleLines } from './settle';
import { benchShardAway, type ShardAwayRow } from './shard-away';
import { benchShards, type ShardsRow } from './shards';
import { benchShardsWeb, type ShardsWebRow } from './shards-web';
import { benchSoak, type KindRow, type SoakRow } from './soak';
import { benchSoakArchive } from './soak-archive';
import { benchSubmit, type SubmitRow } from './submit';
import * as targets from './targets';
import { abuseLines } from './targets-abuse';
import { archiveLines } from './targets-archive';
import { foreignLines } from './targets-foreign';
import { growLines, pullsLines, shardAwayLines, shardsLines, shardsWebLines } from './targets-shards';
import { soakLines } from './targets-soak';
import { benchWebAgainst, type WebAgainstRow, webAgainstLines } from './web-against';

export interface Wishes {
  /** The URL of a separate Redis for the suite. */
  readonly redisUrl: string;
  readonly deadlineMs: number;
  /** Long sizes. */
  readonly full: boolean;
  /** Of the soak. */
  readonly minutes: number;
  /** Of the soak: with an archive. */
  readonly archive: boolean;
  /** Of the instructions: the folder of another tree; null for none. */
  readonly against: string | null;
}

export type Detail = Readonly<Record<string, unknown>>;
/** Reports details as soon as they are known, and returns their lines of the table. */
export type Suite = (wishes: Wishes, tell: (detail: Detail) => void) => Promise<Line[]>;

const DEPTHS_SHORT = [10, 10_000];
const KEEP_UP_SECONDS = { short: { http: 10, step: 7 }, full: { http: 30, step: 15 } };
const SCALE_ROUNDS = { short: 20, full: 40 };
const GROW_ORDERS = { short: 100_000, full: 1_000_000 };
const FOREIGN_ROUNDS = { short: 5, full: 15 };

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

/** For suites of web processes alone. */
async function unsettled(url: string, run: () => Promise<void>): Promise<void> {
  await withRedis(url, async (redis) => {
    await withoutWorker(redis);
    await run();
  });
}

/** With the address of a PostgreSQL of its own. */
async function withPostgres(run: (url: string) => Promise<void>): Promise<void> {
  const postgres = await startPostgres({ durable: true });
  try {
    await run(postgres.url);
  } finally {
    await postgres.stop();
  }
}

/** In the order of the table. To add a suite, add a file, its lines in targets.ts, and an entry here. */
export const SUITES: Readonly<Record<string, Suite>> = {
  submit: suite<SubmitRow>(
    ({ redisUrl, deadlineMs }, emit) => unsettled(redisUrl, () => benchSubmit(redisUrl, deadlineMs, emit)),
    targets.submitLines,
  ),
  costs: suite<CostRow>(({ redisUrl }, emit, tell) => {
    return unsettled(redisUrl, () => benchCosts(redisUrl, emit, (frame) => tell({ ...frame })));
  }, targets.costsLines),
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
  persistence: suite<PersistenceRow>(
    ({ deadlineMs }, emit) => benchPersistence(deadlineMs, emit),
    targets.persistenceLines,
  ),
  realtime: suite<RealtimeRow>(
    ({ redisUrl, deadlineMs }, emit) => benchRealtime(redisUrl, deadlineMs, emit),
    targets.realtimeLines,
  ),
  page: suite<PageRow>(({ redisUrl }, emit) => benchPage(redisUrl, emit), pageLines),
  'keep-up': suite<KeepUpRow>(
    ({ redisUrl, deadlineMs, full }, emit) =>
      benchKeepUp(redisUrl, deadlineMs, emit, KEEP_UP_SECONDS[full ? 'full' : 'short']),
    targets.keepUpLines,
  ),
  scale: suite<ScaleRow>(
    ({ deadlineMs, full }, emit) => benchScale(deadlineMs, emit, SCALE_ROUNDS[full ? 'full' : 'short']),
    targets.scaleLines,
  ),
  shards: suite<ShardsRow>(({ deadlineMs }, emit) => benchShards(deadlineMs, emit), shardsLines),
  pulls: suite<PullsRow>(({ deadlineMs }, emit) => benchPulls(deadlineMs, emit), pullsLines),
  'shard-away': suite<ShardAwayRow>(
    ({ deadlineMs }, emit) => benchShardAway(deadlineMs, emit),
    shardAwayLines,
  ),
  grow: suite<GrowRow>(({ full }, emit) => benchGrow(GROW_ORDERS[full ? 'full' : 'short'], emit), growLines),
  'shards-web': suite<ShardsWebRow>(
    ({ deadlineMs }, emit) => benchShardsWeb(deadlineMs, emit),
    shardsWebLines,
  ),
  foreign: suite<ForeignRow>(
    ({ deadlineMs, full }, emit) => benchForeign(deadlineMs, emit, FOREIGN_ROUNDS[full ? 'full' : 'short']),
    foreignLines,
  ),
  soak: suite<SoakRow>(({ redisUrl, minutes, archive }, emit, tell) => {
    const tellKind = (kind: KindRow): void => tell({ ...kind });
    if (!archive) return benchSoak(redisUrl, minutes, emit, tellKind);
    return withPostgres((url) => benchSoakArchive(redisUrl, url, minutes, emit, tellKind));
  }, soakLines),
  expiry: suite<ExpiryRow>(
    ({ redisUrl }, emit) => withRedis(redisUrl, (redis) => benchExpiry(redis, emit)),
    targets.expiryLines,
  ),
  archive: suite<ArchiveRow>(({ redisUrl, full }, emit) => benchArchive(redisUrl, full, emit), archiveLines),
  settle: suite<SettleRow>(({ full }, emit) => benchSettle(full, emit), settleLines),
  'contract-wallets': suite<ContractWalletsRow>(
    ({ redisUrl, full }, emit) => benchContractWallets(redisUrl, full, emit),
    contractWalletsLines,
  ),
  abuse: suite<AbuseRow>(({ redisUrl }, emit) => benchAbuse(redisUrl, emit), abuseLines),
  audit: suite<AuditRow>(
    ({ redisUrl }, emit) => withRedis(redisUrl, (redis) => benchAudit(redis, emit)),
    targets.auditLines,
  ),
};
