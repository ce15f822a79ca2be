import type { MarketId } from '../../exchange/market';
import type { SettlementStatus } from '../../exchange/status';
import { decodeSettlement, listPlace, settlementId, settlementKey } from '../records/settlement';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import type { Findings } from './report';

interface RecordChecksOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly findings: Findings;
  /** The numbers of the matches of each market, up to the moment of the snapshot. */
  readonly matches: ReadonlyMap<MarketId, ReadonlySet<number>>;
  /** The statuses of records that are not among the unsettled. */
  readonly over: readonly SettlementStatus[];
  readonly onStep: () => Promise<void>;
}

interface ListedRecord {
  readonly name: Buffer;
  readonly tradeMs: number;
  readonly listId: string;
  readonly isOpen: boolean;
}

const STEP = 500;
const NAME_BYTES = 15;

/**
 * Checks that each settlement record belongs to a match, is in the lists, and is among the unsettled unless it is over; and that
 * the lists name no other. One script adds a record and its list entries, so every record read first must be in the lists that
 * are read after it; and one script takes all of them out of Redis with their match, so what is missing is looked for again.
 */
export async function checkSettlementRecords(options: RecordChecksOptions): Promise<void> {
  const { redis, keys, findings, matches, onStep } = options;
  const records = new Map<string, ListedRecord>();
  let cursor = '0';
  do {
    const [next, flat] = await redis.hscanBuffer(keys.settlements, cursor, 'COUNT', STEP);
    for (let i = 0; i + 1 < flat.length; i += 2) {
      const record = readRecord(flat[i] as Buffer, flat[i + 1] as Buffer, options);
      if (record) records.set(record.name.toString('latin1'), record);
    }
    cursor = next.toString();
    await onStep();
  } while (cursor !== '0');
  for (const { name, tradeMs } of records.values()) {
    const { marketId, sequence } = settlementKey(name);
    if (matches.get(marketId)?.has(sequence)) continue;
    // The record may belong to a match later than the checked ones.
    const place = `${tradeMs}-${sequence}`;
    const [match] = await redis.xrange(keys.trades(marketId), place, place);
    if (!match && (await isStored(options, name)))
      report(findings, 'SETTLEMENT_RECORD', name, 'the record is of no match');
  }
  await checkList(options, keys.settlementList, [...records.values()]);
  for (const [id, own] of byMarket(records.values())) {
    await checkList(options, keys.settlementListOf(id), own);
  }
  await checkUnsettled(options, [...records.values()]);
}

function byMarket(records: Iterable<ListedRecord>): Map<MarketId, ListedRecord[]> {
  const lists = new Map<MarketId, ListedRecord[]>();
  for (const record of records) {
    const { marketId } = settlementKey(record.name);
    const list = lists.get(marketId);
    if (list) list.push(record);
    else lists.set(marketId, [record]);
  }
  return lists;
}

function readRecord(
  name: Buffer,
  packed: Buffer,
  { findings, over }: RecordChecksOptions,
): ListedRecord | null {
  if (name.length !== NAME_BYTES) {
    const detail = `a settlement record has the name ${name.toString('hex')}`;
    findings.add({ kind: 'SETTLEMENT_RECORD', detail });
    return null;
  }
  try {
    const { tradeMs, listId, settlementStatus } = decodeSettlement(settlementKey(name), packed);
    return { name, tradeMs, listId, isOpen: !over.includes(settlementStatus) };
  } catch (error) {
    report(findings, 'SETTLEMENT_RECORD', name, error instanceof Error ? error.message : String(error));
    return null;
  }
}

const report = (
  findings: Findings,
  kind: 'SETTLEMENT_RECORD' | 'SETTLEMENT_LIST',
  name: Buffer,
  detail: string,
): void => {
  const { marketId, sequence } = settlementKey(name);
  findings.add({ kind, marketId, sequence, settlementId: settlementId(settlementKey(name)), detail });
};

async function checkList(
  options: RecordChecksOptions,
  list: string,
  records: readonly ListedRecord[],
): Promise<void> {
  const { redis, findings, onStep } = options;
  const places = new Map<string, string>();
  let from = '-';
  for (;;) {
    const entries = await redis.xrangeBuffer(list, from, '+', 'COUNT', STEP);
    for (const [id, fields] of entries) places.set((fields[1] as Buffer).toString('latin1'), id.toString());
    await onStep();
    if (entries.length < STEP) break;
    from = `(${entries.at(-1)?.[0].toString()}`;
  }
  for (const { name, listId } of records) {
    const place = places.get(name.toString('latin1'));
    places.delete(name.toString('latin1'));
    if (place === listId || !(await isStored(options, name))) continue;
    report(findings, 'SETTLEMENT_LIST', name, 'a list of settlements does not name the record at its place');
  }
  await checkStrangers(options, list, [...places]);
}

const isStored = async ({ redis, keys }: RecordChecksOptions, name: Buffer): Promise<boolean> =>
  (await redis.hexists(keys.settlements, name)) === 1;

/** Checks that entries of a list whose records were not read have one by now, or have left with it. */
async function checkStrangers(
  { redis, keys, findings, onStep }: RecordChecksOptions,
  list: string,
  entries: readonly (readonly [name: string, id: string])[],
): Promise<void> {
  for (let from = 0; from < entries.length; from += STEP) {
    const part = entries
      .slice(from, from + STEP)
      .map(([name, id]) => [Buffer.from(name, 'latin1'), id] as const);
    const stored = await redis.hmgetBuffer(keys.settlements, ...part.map(([name]) => name));
    for (const [i, [name, id]] of part.entries()) {
      if (stored[i] || (await redis.xrange(list, id, id)).length === 0) continue;
      report(findings, 'SETTLEMENT_LIST', name, 'a list of settlements names a record that is not stored');
    }
    await onStep();
  }
}

/** A record may change its status during the check, so each apparent fault is checked again in one step. */
async function checkUnsettled(
  { redis, keys, findings, over, onStep }: RecordChecksOptions,
  records: readonly ListedRecord[],
): Promise<void> {
  for (let from = 0; from < records.length; from += STEP) {
    const part = records.slice(from, from + STEP);
    const scores = await redis.zmscore(keys.unsettled, ...part.map(openMember));
    for (const [i, record] of part.entries()) {
      if ((scores[i] !== null) === record.isOpen) continue;
      const reply = await redis
        .multi()
        .hgetBuffer(keys.settlements, record.name)
        .zscore(keys.unsettled, openMember(record))
        .exec();
      const [packed, score] = (reply ?? []).map(([, value]) => value) as [Buffer | null, string | null];
      const isOpen =
        packed && !over.includes(decodeSettlement(settlementKey(record.name), packed).settlementStatus);
      if (isOpen === (score !== null) || (packed === null && score === null)) continue;
      const what = isOpen ? 'is missing among' : 'is over and still among';
      report(findings, 'SETTLEMENT_LIST', record.name, `the record ${what} the unsettled ones`);
    }
    await onStep();
  }
}

/** Its member in lua/lib/settlements.lua's `su`. */
const openMember = ({ name, listId }: ListedRecord): Buffer => Buffer.concat([listPlace(listId), name]);
