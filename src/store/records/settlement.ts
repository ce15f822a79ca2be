import { FAULT_REASONS } from '../../exchange/chain';
import type { SettlementState } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import { MATCH_TYPES } from '../../exchange/match';
import type { Settlement } from '../../exchange/settlement';
import { SETTLEMENT_STATUSES, type SettlementStatus } from '../../exchange/status';
import { LIST_PLACE, SETTLEMENT, SETTLEMENT_END } from './layout';
import { hashBytes, hashHex } from './order';

/** A match by its place in its market's stream. */
export interface MatchRef {
  readonly marketId: MarketId;
  readonly tradeMs: number;
  readonly sequence: number;
}

export const matchName = ({ marketId, tradeMs, sequence }: MatchRef): string =>
  `${marketId} ${tradeMs}-${sequence}`;

/** Identifies a settlement: a part of the match with this sequence. */
export interface SettlementKey {
  readonly marketId: MarketId;
  readonly sequence: number;
  readonly part: number;
}

/** A stored record: HEAD of lua/lib/settlements.lua, and the settled amounts; null when those could not be built. */
export interface SettlementRecord extends SettlementKey, SettlementState {
  readonly tradeMs: number;
  readonly attempts: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Its place in the list of settlements. */
  readonly listId: string;
  readonly settlement: Settlement | null;
}

const HEAD_BYTES = SETTLEMENT.bytes;
const HASH_BYTES = 32;
const NO_HASH = Buffer.alloc(HASH_BYTES);

const UNKNOWN: SettlementState = { settlementStatus: 'MATCHED', transactionHash: null };

/** The 15 bytes that name a record. */
export function settlementName({ marketId, sequence, part }: SettlementKey): Buffer {
  const name = Buffer.allocUnsafe(15);
  name.write(marketId, 0, 8, 'latin1');
  name.writeUIntBE(sequence, 8, 6);
  name[14] = part;
  return name;
}

/** The names of the records of a match that has this number of them. */
export const settlementNames = (match: Omit<SettlementKey, 'part'>, count: number): Buffer[] =>
  Array.from({ length: count }, (_, part) => settlementName({ ...match, part }));

export const settlementKey = (name: Buffer): SettlementKey => ({
  marketId: name.toString('latin1', 0, 8),
  sequence: name.readUIntBE(8, 6),
  part: name.readUInt8(14),
});

/** `<marketId>-<sequence>-s<part>`; a trade's id ends in a plain number. */
export const settlementId = ({ marketId, sequence, part }: SettlementKey): string =>
  `${marketId}-${sequence}-s${part}`;

/** A list id in the sorted form: the members in lua/lib/settlements.lua's `su` begin with it. */
export function listPlace(id: string): Buffer {
  const [listMs = 0, listIndex = 0] = id.split('-').map(Number);
  return LIST_PLACE.pack({ listMs, listIndex });
}

/** The number of makers I2, every hash, then the amounts: taker, refund, taker fee; then each maker's type B, amount, fee. */
export function packSettlement(settlement: Settlement): Buffer {
  const { takerHash, makerHashes, matchTypes, makerFillAmounts, makerFeeAmounts } = settlement;
  const count = Buffer.allocUnsafe(2);
  count.writeUInt16BE(makerHashes.length);
  return Buffer.concat([
    count,
    hashBytes(takerHash),
    ...makerHashes.map(hashBytes),
    packAmount(settlement.takerFillAmount),
    packAmount(settlement.refundAmount),
    packAmount(settlement.takerFeeAmount),
    ...makerHashes.flatMap((_, i) => [
      Buffer.from([MATCH_TYPES.indexOf(matchTypes[i] ?? 'COMPLEMENTARY')]),
      packAmount(makerFillAmounts[i] ?? 0n),
      packAmount(makerFeeAmounts[i] ?? 0n),
    ]),
  ]);
}

function unpackSettlement(part: number, body: Buffer): Settlement {
  const makers = body.readUInt16BE(0);
  let at = 2;
  const hash = (): string => {
    at += HASH_BYTES;
    return hashHex(body.subarray(at - HASH_BYTES, at));
  };
  const amount = (): bigint => {
    const length = body.readUInt8(at);
    const hex = body.toString('hex', at + 1, at + 1 + length);
    at += 1 + length;
    return length === 0 ? 0n : BigInt(`0x${hex}`);
  };
  const takerHash = hash();
  const makerHashes = Array.from({ length: makers }, hash);
  const [takerFillAmount, refundAmount, takerFeeAmount] = [amount(), amount(), amount()];
  const rows = Array.from({ length: makers }, () => {
    const type = MATCH_TYPES[body.readUInt8(at++)];
    if (!type) throw new Error('a stored settlement has an unknown match type');
    return { type, fill: amount(), fee: amount() };
  });
  return {
    part,
    takerHash,
    makerHashes,
    takerFillAmount,
    refundAmount,
    takerFeeAmount,
    makerFillAmounts: rows.map(({ fill }) => fill),
    matchTypes: rows.map(({ type }) => type),
    makerFeeAmounts: rows.map(({ fee }) => fee),
  };
}

function packAmount(n: bigint): Buffer {
  if (n === 0n) return Buffer.from([0]);
  const hex = n.toString(16);
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

/** Distinguishes a match from a lost one that had the same number. */
export interface MatchFacts {
  readonly tradeMs: number;
  readonly takerHash: string;
}

/** Returns the record, unless it belongs to a lost match with the same number. */
export function recordOf(packed: Buffer | null | undefined, match: MatchFacts): Buffer | null {
  if (!packed || SETTLEMENT.get.tradeMs(packed) !== match.tradeMs) return null;
  const body = bodyOf(packed);
  return body.length === 0 || hashHex(body.subarray(2, 2 + HASH_BYTES)) === match.takerHash ? packed : null;
}

const bodyOf = (packed: Buffer): Buffer => packed.subarray(HEAD_BYTES + packed.readUInt8(HEAD_BYTES - 1));

/** Only the fields that a fill shows; MATCHED when there is no record yet. */
export function decodeSettlementState(packed: Buffer | null): SettlementState {
  if (!packed) return UNKNOWN;
  const length = packed.readUInt8(HEAD_BYTES - 1);
  const end = packed.subarray(HEAD_BYTES, HEAD_BYTES + length);
  const hash = end.subarray(0, HASH_BYTES);
  const transactionHash = length === 0 || hash.equals(NO_HASH) ? null : hashHex(hash);
  return {
    settlementStatus: settlementStatusOf(packed),
    transactionHash,
    ...endOf(end.subarray(HASH_BYTES)),
  };
}

/** The end of a settlement on a chain; nothing while it is open, and with paper funds. */
function endOf(packed: Buffer): Pick<SettlementState, 'blockNumber' | 'failureReason' | 'failedWallet'> {
  if (packed.length === 0) return {};
  const { block, reason, wallet } = SETTLEMENT_END.read(packed);
  const failureReason = FAULT_REASONS[reason - 1];
  return {
    ...(block > 0 && { blockNumber: block }),
    ...(failureReason && { failureReason }),
    ...(wallet.some((byte) => byte !== 0) && { failedWallet: hashHex(wallet) }),
  };
}

export const settlementUpdatedMs = (packed: Buffer): number => SETTLEMENT.read(packed).updatedAtMs;

export function decodeSettlement(key: SettlementKey, packed: Buffer): SettlementRecord {
  const body = bodyOf(packed);
  const { attempts, updatedAtMs, tradeMs, listMs, listIndex } = SETTLEMENT.read(packed);
  return {
    ...key,
    ...decodeSettlementState(packed),
    attempts,
    updatedAtMs,
    tradeMs,
    createdAtMs: listMs,
    listId: `${listMs}-${listIndex}`,
    settlement: body.length === 0 ? null : unpackSettlement(key.part, body),
  };
}

export function settlementStatusOf(packed: Buffer): SettlementStatus {
  const status = SETTLEMENT_STATUSES[packed[0] ?? -1];
  if (!status) throw new Error('a stored settlement has an unknown status');
  return status;
}
