import { getHeapStatistics } from 'node:v8';
import type { AuditReport } from '../../exchange/audit';
import { Refusal } from '../../exchange/errors';
import type { MarketState } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import type { ChainScale } from '../../exchange/order';
import { SETTLEMENT_STATUSES } from '../../exchange/status';
import { lossOf } from '../health/durability';
import { type FundsMark, readFunds } from '../health/funds';
import { type ArchivedReads, NO_ARCHIVE, type RecordArchive } from '../lists/archived-reads';
import { entryId } from '../lists/places';
import { LEFT, OUTBOX_HEAD, SETTLEMENT } from '../records/layout';
import { isBefore, NO_ENTRY } from '../redis/entry-id';
import { holderOf } from '../redis/holder';
import type { Keys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';
import { isFull } from '../redis/unreachable';
import { createMatches, type Matches } from '../settlement/matches';
import { createSettlements, ENDED } from '../settlement/settlements';
import { readMatches } from './archived-part';
import { createChanges, OutboxLost } from './changes';
import { checkAccounts } from './check-accounts';
import { checkAgenda } from './check-agenda';
import { checkBooks, readStates } from './check-markets';
import {
  createMarketTally,
  createMatchChecks,
  type Match,
  type MatchChecks,
  type ReadMatch,
  readMatch,
} from './check-matches';
import { checkNames, readDocuments } from './check-names';
import { checkOrders } from './check-orders';
import { checkNumbers, checkOutbox } from './check-outbox';
import { checkSettlementRecords } from './check-records';
import { createSettlementChecks, type SettlementChecks } from './check-settlements';
import { checkFees, checkTotals } from './check-totals';
import { changedSince, createUnsettledChecks, type UnsettledChecks } from './check-unsettled';
import { dropForgotten } from './forgotten';
import { createFindings, type Findings } from './report';
import { createSnapshot, type Snapshot } from './snapshot';
import { sweep } from './sweep';
import { createEventLoopYield, type EventLoopYield } from './yield-to-event-loop';

export interface AuditOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  readonly scale: ChainScale;
  /** Without it no match has left Redis. */
  readonly archivedReads?: ArchivedReads;
  readonly archive?: Pick<RecordArchive, 'health'>;
  /** The time that a match may be without its settlement record; default SETTLEMENT_GRACE_MS. */
  readonly settlementGraceMs?: number;
  /** The checks of extensions; none by default. */
  readonly auditChecks?: readonly AuditCheck[];
  /** The memory that this process may still use; by default the rest of its heap. */
  readonly freeBytes?: () => number;
}

/** A check that an extension adds, after those of the core. */
export type AuditCheck = (audited: Audited) => Promise<void>;

/** What such a check looks at. */
export interface Audited extends Pick<AuditOptions, 'redis' | 'run' | 'keys'> {
  readonly matches: Pick<Matches, 'load'>;
  readonly findings: Findings;
  /** Called after each step; other work of the process goes on meanwhile. */
  readonly onStep: () => Promise<void>;
  /** Null with paper funds. */
  readonly funds: FundsMark | null;
  /** Every account of the snapshot, that of the fees included. */
  readonly accounts: Iterable<string>;
}

/** The exchange has more orders than fit into the memory of this process. */
export class AuditTooLarge extends Error {}

export type Audit = () => Promise<AuditReport>;

/** A running worker writes a record within a second, and the reconciler looks every half minute. */
const SETTLEMENT_GRACE_MS = 120_000;
/** Trimming keeps a minute of the outbox; the audit follows it much more often. */
const FOLLOW_EVERY_MS = 3_000;
/** Redis refuses even transactions that only read then. */
const FULL =
  'Redis is full, so the audit cannot read some data of one moment: raise maxmemory, and audit again';
/** A match may have hundreds of fills. */
const MATCHES_STEP = 200;
const TRIES_MAX = 3;
/** Measured: with 170 MB of heap in all, 100,000 orders pass. */
const BYTES_PER_ORDER = 1_500;
const HEAP_SHARE_MAX = 0.7;

/**
 * Recomputes all derived data from the orders and matches, and names every difference. The exchange may be trading: the
 * compared data is the state of one moment (changes.ts). Only one audit runs at a time; a caller that comes meanwhile gets
 * the same answer.
 */
export function createAudit(options: AuditOptions): Audit {
  let running: Promise<AuditReport> | null = null;
  return () => {
    running ??= auditAgain(options).finally(() => {
      running = null;
    });
    return running;
  };
}

async function auditAgain(options: AuditOptions): Promise<AuditReport> {
  for (let tries = 1; ; tries++) {
    try {
      return await audit(options);
    } catch (error) {
      if (isFull(error)) throw new Refusal('UNAVAILABLE', FULL);
      if (!(error instanceof OutboxLost) || tries === TRIES_MAX) throw error;
    }
  }
}

function heapLeft(): number {
  const { heap_size_limit, used_heap_size } = getHeapStatistics();
  return heap_size_limit - used_heap_size;
}

/** An audit must not crash a process that serves others. */
async function checkMemory({ redis, keys, freeBytes = heapLeft }: AuditOptions): Promise<void> {
  const orders = await redis.hlen(keys.orders);
  const [needed, free] = [orders * BYTES_PER_ORDER, freeBytes()];
  if (needed <= free * HEAP_SHARE_MAX) return;
  const mb = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`;
  throw new AuditTooLarge(
    `an audit of ${orders} orders takes ${mb(needed)}, and this process has ${mb(free)} left: ` +
      'run it by itself: node --max-old-space-size=<MB> dist/cli.js audit',
  );
}

async function audit(options: AuditOptions): Promise<AuditReport> {
  await checkMemory(options);
  const findings = createFindings();
  const yieldToEventLoop = createEventLoopYield();
  const funds = await readFunds(options.redis, options.keys);
  const snapshot = createSnapshot(funds === null ? 'paper' : 'chain');
  const position = await take(options, snapshot, yieldToEventLoop);
  const states = readStates(snapshot, findings);
  const expected = await checkOrders(snapshot, findings, yieldToEventLoop);
  const balances = await checkAccounts(snapshot, expected, findings, yieldToEventLoop);
  // The chain keeps its own sums.
  if (funds === null) await checkTotals(snapshot, states, findings, yieldToEventLoop);
  checkBooks(states, expected, findings);
  await checkNumbers(snapshot, states, findings, yieldToEventLoop);
  const documents = await readDocuments({ ...options, findings }, snapshot.markets.keys());
  const feeRateOf = (id: MarketId): number | null => documents.get(id)?.terms.feeRateBps ?? null;
  // Soon after the snapshot, before later matches leave Redis.
  const fills = await checkStreams(options, {
    snapshot,
    findings,
    yieldToEventLoop,
    states,
    feeRateOf,
    funds,
    position,
  });
  await checkOutbox({ ...options, findings, states, position });
  await checkNames({ ...options, findings }, documents);
  await checkAgenda({ ...options, findings, onStep: async () => yieldToEventLoop() }, documents.keys());
  const { redis, run, keys } = options;
  const matches = createMatches({
    ...options,
    settlements: createSettlements(options),
    funds: funds === null ? 'paper' : 'chain',
  });
  const onStep = async () => yieldToEventLoop();
  const { auditChecks = [] } = options;
  for (const check of auditChecks)
    await check({ redis, run, keys, matches, findings, onStep, funds, accounts: snapshot.accounts() });
  await checkWhole(options, findings);
  const differences = findings.list();
  const checked = { orders: snapshot.orders.size, balances, markets: snapshot.markets.size, fills };
  return { ok: differences.length === 0, checked, differences };
}

/** An empty Redis has no difference; that it lost everything is a finding all the same. */
async function checkWhole(
  { redis, keys, archive = NO_ARCHIVE }: AuditOptions,
  findings: Findings,
): Promise<void> {
  const lost = await redis.hget(keys.epoch, 'lost');
  const { conflict } = await archive.health();
  for (const detail of [lossOf({ lostMs: lost === null ? null : Number(lost) }), conflict])
    if (detail !== null) findings.add({ kind: 'DATA_LOST', detail });
}

/** Reads the whole exchange and catches up with it. Returns the last outbox entry that the snapshot contains. */
async function take(
  options: AuditOptions,
  snapshot: Snapshot,
  yieldToEventLoop: EventLoopYield,
): Promise<string> {
  const changes = createChanges(options, snapshot);
  await changes.start();
  let followedAt = performance.now();
  const onStep = async (): Promise<void> => {
    await yieldToEventLoop();
    if (performance.now() - followedAt < FOLLOW_EVERY_MS) return;
    await changes.catchUp();
    followedAt = performance.now();
  };
  await sweep({ ...options, onStep }, snapshot);
  await dropForgotten({ ...options, onStep }, snapshot);
  return changes.catchUp();
}

/** When the script ran that wrote an entry of the outbox, by the clock that dates all records. */
async function momentOf({ redis, keys }: AuditOptions, position: string): Promise<number> {
  const [entry] = await redis.xrangeBuffer(keys.outbox, position, position);
  const packed = entry?.[1][1];
  return packed ? OUTBOX_HEAD.get.timestampMs(packed) : Number(position.split('-')[0]);
}

interface StreamsOptions {
  readonly snapshot: Snapshot;
  readonly findings: Findings;
  readonly yieldToEventLoop: EventLoopYield;
  readonly states: ReadonlyMap<MarketId, MarketState>;
  readonly feeRateOf: (id: MarketId) => number | null;
  /** Null with paper funds. */
  readonly funds: FundsMark | null;
  /** The last entry of the outbox that the snapshot contains. */
  readonly position: string;
}

/**
 * Checks the records that are only ever added: matches and settlement records, up to the moment of the snapshot. Returns
 * the number of fills counted.
 */
async function checkStreams(options: AuditOptions, streams: StreamsOptions): Promise<number> {
  const { redis, keys, settlementGraceMs = SETTLEMENT_GRACE_MS } = options;
  const { snapshot, findings, yieldToEventLoop, states, funds, position } = streams;
  const atMs = funds ? await momentOf(options, position) : 0;
  const unsettled = funds && createUnsettledChecks(snapshot, findings, funds, atMs);
  const settledUpTo = new Map(Object.entries(await redis.hgetall(keys.settledUpTo)));
  const matchChecks = createMatchChecks(snapshot, findings);
  const [seconds] = await holderOf(redis, keys).time();
  const youngerMs = Number(seconds) * 1_000 - settlementGraceMs;
  const settlements = createSettlementChecks({ ...options, ...streams, youngerMs, settledUpTo });
  const matches = new Map<MarketId, ReadonlySet<number>>();
  for (const [id, state] of states) {
    matches.set(
      id,
      await checkMarketMatches(options, {
        ...streams,
        id,
        state,
        matchChecks,
        settlements,
        unsettled,
        atMs,
      }),
    );
  }
  await matchChecks.checkOrders(yieldToEventLoop);
  if (unsettled) await unsettled.check(await changedSince(options, position), yieldToEventLoop);
  else checkFees(snapshot, states, matchChecks.fees, findings);
  const over = ENDED[funds === null ? 'paper' : 'chain'];
  await checkSettlementRecords({
    ...options,
    findings,
    matches,
    over,
    onStep: async () => yieldToEventLoop(),
  });
  return matchChecks.fills();
}

interface MarketOptions extends StreamsOptions {
  readonly id: MarketId;
  readonly state: MarketState;
  readonly matchChecks: MatchChecks;
  readonly settlements: SettlementChecks;
  readonly unsettled: UnsettledChecks | null;
  /** The moment of the snapshot. */
  readonly atMs: number;
}

async function checkMarketMatches(options: AuditOptions, market: MarketOptions): Promise<Set<number>> {
  const { id, state, findings, matchChecks } = market;
  const sequences = new Set<number>();
  const tally = createMarketTally(id);
  for (let at: string | null = null; ; ) {
    const step = await readMatches({ ...options, findings }, id, at, MATCHES_STEP);
    // The first step, or matches left that were not counted.
    if (!step || at === null || isBefore(at, entryId(step.left))) {
      // Matches after the moment of the snapshot may have left, too.
      const left = step && step.left.sequence <= state.sequence ? step.left : null;
      matchChecks.begin(id, left);
      if (!step || !left) return sequences;
      tally.begin(left);
    }
    const read = step.entries.map(([name, fields]) => readMatch(id, name.toString(), fields[1] as Buffer));
    const known = read.filter(({ place }) => place.sequence <= state.sequence);
    for (const { place } of known) sequences.add(place.sequence);
    for (const match of await checkStep(options, market, known)) tally.add(match);
    if (step.next === null || known.length < read.length) break;
    at = step.next;
  }
  tally.check(state, findings);
  return sequences;
}

/** Whether a settlement had failed at a moment. */
function hadFailed(record: Buffer | null | undefined, atMs: number): boolean {
  if (!record) return false;
  const { status, updatedAtMs } = SETTLEMENT.read(record);
  return SETTLEMENT_STATUSES[status] === 'FAILED' && updatedAtMs <= atMs;
}

/** Checks some matches and their settlement records; returns those that can be read, without the fills that failed on a chain. */
async function checkStep(
  { redis, keys }: AuditOptions,
  { id, findings, matchChecks, settlements, unsettled, yieldToEventLoop, funds, atMs }: MarketOptions,
  known: readonly ReadMatch[],
): Promise<Match[]> {
  const readable: Match[] = [];
  const names = known.map(({ match }) => (match instanceof Error ? [] : settlements.namesOf(match)));
  const records = await settlements.records(names.flat());
  const isWhole = records.every((record) => record !== null);
  // Records leave Redis with their match.
  const left = isWhole ? null : await redis.hgetBuffer(keys.market(id), 'f');
  const gone = left && left.length === LEFT.bytes ? entryId(LEFT.read(left)) : NO_ENTRY;
  let at = 0;
  for (const [i, { place, match, packed }] of known.entries()) {
    if (match instanceof Error) {
      findings.add({ kind: 'MATCH', marketId: id, sequence: place.sequence, detail: match.message });
      continue;
    }
    const isSound = matchChecks.addMatch(match, packed);
    const count = names[i]?.length ?? 0;
    const own = records.slice(at, at + count);
    // On a chain each fill has its own record.
    const traded = funds ? match.fills.filter((_, part) => !hadFailed(own[part], atMs)) : match.fills;
    readable.push({ ...match, fills: traded });
    if (isBefore(gone, entryId(place))) settlements.check(match, isSound, own);
    unsettled?.add(match, own);
    at += count;
    await yieldToEventLoop();
  }
  return readable;
}
