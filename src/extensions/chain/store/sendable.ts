import type { MarketId } from '../../../exchange/market';
import { SETTLEMENT_STATUSES } from '../../../exchange/status';
import { LIST_PLACE } from '../../../store/records/layout';
import {
  decodeSettlement,
  type SettlementKey,
  type SettlementRecord,
  settlementKey,
  settlementName,
} from '../../../store/records/settlement';
import { readFields } from '../../../store/redis/fields';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';

/** A place in the list of settlements. */
export type SendablePlace = Buffer;

export interface Stretch {
  /** Those that wait to be sent: MATCHED or RETRYING. */
  readonly records: readonly SettlementRecord[];
  /** The place of the last settlement read; the one that was given when there was none. */
  readonly last: SendablePlace | null;
  readonly more: boolean;
}

export interface Sendable {
  /** Reads the settlements after a place that have not ended, oldest first, at most STEP of them. */
  after(place: SendablePlace | null): Promise<Stretch>;
  /** Those of these settlements that wait to be sent. */
  among(keys: readonly SettlementKey[]): Promise<readonly SettlementRecord[]>;
}

interface Door {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

const STEP = 500;
const WAITING = ['MATCHED', 'RETRYING'] as const;
const CODES: ReadonlySet<number | undefined> = new Set(
  WAITING.map((status) => SETTLEMENT_STATUSES.indexOf(status)),
);

/** The markets of settlements that have not ended. */
export async function unsettledMarkets({ redis, keys }: Door): Promise<ReadonlySet<MarketId>> {
  const found = new Set<MarketId>();
  let from: string | Buffer = '-';
  for (let read = STEP; read === STEP; ) {
    const members: Buffer[] = await redis.zrangebylexBuffer(keys.unsettled, from, '+', 'LIMIT', 0, STEP);
    for (const member of members) found.add(settlementKey(member.subarray(LIST_PLACE.bytes)).marketId);
    from = Buffer.concat([Buffer.from('('), members.at(-1) ?? Buffer.alloc(0)]);
    read = members.length;
  }
  return found;
}

/** The settlements that wait for the operator. */
export function createSendable({ redis, keys }: Door): Sendable {
  /** Most of them are under way, so only those that wait are decoded. */
  const waiting = (key: SettlementKey, packed: Buffer | null | undefined): SettlementRecord[] =>
    packed && CODES.has(packed[0]) ? [decodeSettlement(key, packed)] : [];

  return {
    async after(place) {
      const from = place === null ? '-' : Buffer.concat([Buffer.from('('), place]);
      const found = await redis.zrangebylexBuffer(keys.unsettled, from, '+', 'LIMIT', 0, STEP);
      const names = found.map((member) => member.subarray(LIST_PLACE.bytes));
      const packed = await readFields(redis, keys.settlements, names);
      return {
        records: names.flatMap((name, i) => waiting(settlementKey(name), packed[i])),
        last: found.at(-1) ?? place,
        more: found.length === STEP,
      };
    },
    async among(wanted) {
      const packed = await readFields(redis, keys.settlements, wanted.map(settlementName));
      return wanted.flatMap((key, i) => waiting(key, packed[i]));
    },
  };
}
