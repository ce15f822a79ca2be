import {
  type BlockRef,
  type ConvertedTokens,
  FAULT_REASONS,
  type SettlementEvent,
  type WalletReading,
} from '../../../exchange/chain';
import type { ChainScale } from '../../../exchange/order';
import { SETTLEMENT_STATUSES } from '../../../exchange/status';
import { CONVERSION, SETTLEMENT_EVENT } from '../../../store/records/layout';
import { MOVE_REASONS } from '../../../store/records/moves';
import { addressBytes, hashBytes, hashHex } from '../../../store/records/order';
import { type SettlementKey, settlementKey, settlementName } from '../../../store/records/settlement';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import { microOf, packBlock, packCursor, packReadings, readingGroups } from './readings';

/** A wallet, and one of its markets, whose numbers are missing. */
export interface UnreadWallet {
  readonly address: string;
  readonly marketId: string;
}

export interface ObservedBlock {
  /** The cursor is at another block than `from`: nothing of this call counts; read it again. */
  readonly moved: boolean;
  /**
   * Settlements that the block confirms wait for the numbers of these wallets at the block or later. The cursor did not move: call
   * again with their readings.
   */
  readonly unread: readonly UnreadWallet[];
  /**
   * Settlements that are not in the books, or ended otherwise there. The cursor did not move: report them, then call again
   * without events.
   */
  readonly unknown: readonly SettlementKey[];
  readonly settled: number;
  /** Orders cancelled because their funds were missing. */
  readonly cancelled: number;
  /** A wallet has more orders to cancel; the next reading of it does that. */
  readonly more: boolean;
}

export interface Observing {
  /**
   * observe_block: takes the state of the final block `to` into the books: the numbers of wallets there, and the settlements
   * that are final in the blocks after `from` up to it. `converted` is what wallets split, merged and redeemed there, which is
   * reported once, when the cursor moves. `readings` contains each wallet of a confirmed settlement with its
   * market, and every exposed wallet.
   */
  observeBlock(
    from: BlockRef | null,
    to: BlockRef,
    readings: readonly WalletReading[],
    events: readonly SettlementEvent[],
    converted?: readonly ConvertedTokens[],
  ): Promise<ObservedBlock>;
  /** observe_wallets: false when `at` is not a final block of the books, which have moved or do not know it yet. */
  observeWallets(at: BlockRef, readings: readonly WalletReading[]): Promise<boolean>;
  /**
   * cap_wallets: takes lower numbers of a block that is not final, which are without the moves of the exchange's own contract
   * after the block `final`. False when the books are not at that block, so that these are other moves.
   */
  capWallets(final: BlockRef | null, head: BlockRef, readings: readonly WalletReading[]): Promise<boolean>;
  /**
   * void_settlement: ends a settlement as FAILED that the chain would refuse, as seen at block `blockNumber`. LIVE: a transaction
   * holds it, so only the chain ends it.
   */
  voidSettlement(
    key: SettlementKey,
    fault: SettlementEvent['fault'],
    blockNumber: number,
  ): Promise<'OK' | 'OVER' | 'UNKNOWN' | 'LIVE'>;
  /** cancel_unpaid: cancels more orders of wallets by whose fault a match failed, of each a bounded number. Returns their number. */
  cancelUnpaid(): Promise<number>;
}

/** Maximum events of one script; settlements take about 10 microseconds for each order. */
const EVENTS_MAX = 50;
/** src/extensions/chain/lua/observe_block.lua names them. */
const STORES = 0;
const COVERS = 1;
const LAST = 2;
const UNREAD_BYTES = 28;
const ADDRESS_BYTES = 20;
const NAME_BYTES = 15;
const NO_WALLET = Buffer.alloc(ADDRESS_BYTES);
const NOTHING = Buffer.alloc(0);

export function createObserving({
  redis,
  run,
  keys,
  scale,
}: {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  readonly scale: ChainScale;
}): Observing {
  type Stage = typeof STORES | typeof COVERS | typeof LAST;
  type Part = readonly [stage: Stage, readings: readonly WalletReading[], events: readonly SettlementEvent[]];

  async function observePart(
    from: Buffer,
    to: Buffer,
    [stage, readings, events]: Part,
    conversions: Buffer,
  ): Promise<ObservedBlock> {
    const { cursor, cash, exposed, caps, settlements, strikes, settledLots, outbox } = keys;
    const [code, , settled, cancelled, more, unread, unknown] = await run(
      'observe_block',
      [cursor, cash, exposed, caps, settlements, strikes, settledLots, outbox],
      [keys.prefix, from, to, stage, packReadings(readings, scale), conversions, ...events.map(packEvent)],
    );
    return {
      moved: code.toString() === 'MOVED',
      unread: slices(unread, UNREAD_BYTES).map((raw) => ({
        address: hashHex(raw.subarray(0, ADDRESS_BYTES)),
        marketId: raw.toString('latin1', ADDRESS_BYTES),
      })),
      unknown: slices(unknown, NAME_BYTES).map(settlementKey),
      settled,
      cancelled,
      more: more === 1,
    };
  }

  /** The last part moves the cursor, unless a wallet is unread or a settlement unknown. */
  async function observeBlock(
    from: BlockRef | null,
    to: BlockRef,
    readings: readonly WalletReading[],
    events: readonly SettlementEvent[],
    converted: readonly ConvertedTokens[] = [],
  ): Promise<ObservedBlock> {
    const [before, after] = [packCursor(from), packBlock(to)];
    let all: ObservedBlock = { moved: false, unread: [], unknown: [], settled: 0, cancelled: 0, more: false };
    const packed = Buffer.concat(converted.map((one) => packConverted(one, scale)));
    for (const part of partsOf(readings, events)) {
      if (part[0] === LAST && all.unread.length + all.unknown.length > 0) break;
      const one = await observePart(before, after, part, part[0] === LAST ? packed : NOTHING);
      all = {
        moved: one.moved,
        unread: [...all.unread, ...one.unread],
        unknown: [...all.unknown, ...one.unknown],
        settled: all.settled + one.settled,
        cancelled: all.cancelled + one.cancelled,
        more: all.more || one.more,
      };
      if (one.moved) break;
    }
    return all;
  }

  /** Most blocks are one part. Otherwise all readings come before the settlements, and again after them to cancel orders. */
  function partsOf(readings: readonly WalletReading[], events: readonly SettlementEvent[]): Part[] {
    const groups = readingGroups(readings);
    if (groups.length <= 1 && events.length <= EVENTS_MAX) return [[LAST, readings, events]];
    return [
      ...groups.map((group): Part => [STORES, group, []]),
      ...chunks(events, EVENTS_MAX).map((group): Part => [STORES, [], group]),
      ...groups.map((group): Part => [COVERS, group, []]),
      [LAST, [], []],
    ];
  }

  async function observeWallets(at: BlockRef, readings: readonly WalletReading[]): Promise<boolean> {
    const { cursor, cash, exposed, caps } = keys;
    for (const group of readingGroups(readings)) {
      const args = [keys.prefix, packBlock(at), packReadings(group, scale)] as const;
      const [code] = await run('observe_wallets', [cursor, cash, exposed, caps], args);
      if (code.toString() === 'MOVED') return false;
    }
    return true;
  }

  async function capWallets(
    final: BlockRef | null,
    head: BlockRef,
    readings: readonly WalletReading[],
  ): Promise<boolean> {
    const { cursor, cash, caps } = keys;
    for (const group of readings.length === 0 ? [readings] : readingGroups(readings)) {
      const args = [keys.prefix, packBlock(head), packReadings(group, scale), packCursor(final)] as const;
      const [code] = await run('cap_wallets', [cursor, cash, caps], args);
      if (code.toString() === 'MOVED') return false;
    }
    return true;
  }

  async function voidSettlement(
    key: SettlementKey,
    fault: SettlementEvent['fault'],
    blockNumber: number,
  ): Promise<'OK' | 'OVER' | 'UNKNOWN' | 'LIVE'> {
    const { settlements, cash, exposed, strikes, settledLots, outbox } = keys;
    const wallet = fault?.wallet ? addressBytes(fault.wallet) : '';
    const [code] = await run(
      'void_settlement',
      [settlements, cash, exposed, strikes, settledLots, outbox],
      [keys.prefix, settlementName(key), reasonCode(fault), wallet, blockNumber],
    );
    return code.toString() as 'OK' | 'OVER' | 'UNKNOWN' | 'LIVE';
  }

  async function cancelUnpaid(): Promise<number> {
    let cancelled = 0;
    for (const noted of await redis.smembersBuffer(keys.unpaid)) {
      const wallet = noted.subarray(0, ADDRESS_BYTES);
      const { orders, cash, expiries, outbox, unpaid } = keys;
      const [count] = await run(
        'cancel_unpaid',
        [keys.wallet(wallet), orders, cash, expiries, outbox, unpaid],
        [keys.prefix, noted],
      );
      cancelled += count;
    }
    return cancelled;
  }

  return { observeBlock, observeWallets, capWallets, voidSettlement, cancelUnpaid };
}

/** 0 for none; src/extensions/chain/lua/lib/finality.lua names some. */
const reasonCode = (fault: SettlementEvent['fault']): number =>
  fault === null ? 0 : FAULT_REASONS.indexOf(fault.reason) + 1;

const packEvent = (event: SettlementEvent): Buffer =>
  SETTLEMENT_EVENT.pack({
    name: settlementName(event),
    status: SETTLEMENT_STATUSES.indexOf(event.result),
    reason: reasonCode(event.fault),
    block: event.blockNumber,
    transaction: hashBytes(event.transactionHash),
    wallet: event.fault?.wallet ? addressBytes(event.fault.wallet) : NO_WALLET,
  });

const packConverted = (one: ConvertedTokens, scale: ChainScale): Buffer =>
  CONVERSION.pack({
    marketId: Buffer.from(one.marketId, 'latin1'),
    wallet: addressBytes(one.wallet),
    reason: MOVE_REASONS.indexOf(one.kind === 'REDEEM' ? 'REDEEMED' : one.kind),
    collateralMicro: microOf(one.collateral, scale),
    yesMicro: microOf(one.yes, scale),
    noMicro: microOf(one.no, scale),
  });

const slices = (packed: Buffer, bytes: number): Buffer[] =>
  Array.from({ length: packed.length / bytes }, (_, i) => packed.subarray(i * bytes, (i + 1) * bytes));

const chunks = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
