import type { SettlementState } from '../../exchange/facts';
import { MINED } from '../records/layout';
import { hashBytes, hashHex } from '../records/order';
import { type SettlementKey, settlementName, settlementStatusOf } from '../records/settlement';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';

/** A settlement in a block that is not final: another block may still take its place. */
export interface MinedSettlement extends SettlementKey {
  readonly transactionHash: string;
  readonly blockNumber: number;
}

export type MinedIn = Pick<MinedSettlement, 'transactionHash' | 'blockNumber'>;

interface Door {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

/** Replaces all that were noted before, so that a block which is taken back takes its settlements along. */
export async function noteMined({ redis, keys }: Door, list: readonly MinedSettlement[]): Promise<void> {
  const entries = list.flatMap((one) => [
    settlementName(one),
    MINED.pack({ block: one.blockNumber, transaction: hashBytes(one.transactionHash) }),
  ]);
  const replacing = redis.multi().del(keys.mined);
  if (entries.length > 0) replacing.hset(keys.mined, ...entries);
  await replacing.exec();
}

/** Where the settlements of these records are mined; null for every one that is not SUBMITTED, as none is with paper funds. */
export async function minedOf(
  { redis, keys }: Door,
  names: readonly Buffer[],
  records: readonly (Buffer | null)[],
): Promise<readonly (MinedIn | null)[]> {
  const sent = names.filter((_, i) => {
    const record = records[i];
    return record && settlementStatusOf(record) === 'SUBMITTED';
  });
  if (sent.length === 0) return names.map(() => null);
  const found = await redis.hmgetBuffer(keys.mined, ...sent);
  const blocks = new Map(sent.map((name, i) => [name, found[i] ?? null]));
  return names.map((name) => {
    const packed = blocks.get(name);
    if (!packed) return null;
    const { block, transaction } = MINED.read(packed);
    return { transactionHash: hashHex(transaction), blockNumber: block };
  });
}

/** The state of a settlement, with its block as soon as it is in one. */
export const inBlock = <T extends SettlementState>(state: T, mined: MinedIn | null): T =>
  mined && state.settlementStatus === 'SUBMITTED' ? { ...state, ...mined } : state;
