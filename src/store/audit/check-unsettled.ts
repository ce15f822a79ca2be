import type { MarketId } from '../../exchange/market';
import { SETTLEMENT_MAKERS_MAX as MAKERS_MAX } from '../../exchange/settlement';
import { SETTLEMENT_STATUSES } from '../../exchange/status';
import { formatMicro, MICRO_PER_LOT } from '../../exchange/units';
import type { FundsMark } from '../health/funds';
import { kindOf } from '../outbox/outbox';
import { OUTBOX_HEAD, SETTLEMENT } from '../records/layout';
import type { Fill } from '../records/order';
import { NO_ENTRY } from '../redis/entry-id';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import { ASSETS } from './check-accounts';
import { type Match, ownPrice } from './check-matches';
import type { Findings } from './report';
import type { AuditedOrder, Snapshot } from './snapshot';
import type { EventLoopYield } from './yield-to-event-loop';

/** The amounts that matches of a wallet which are not final have taken of an asset, and that they bring of it. */
interface Amounts {
  outMicro: number;
  pendingMicro: number;
}

/** The part of a settlement that belongs to one order. */
interface Leg {
  readonly order: AuditedOrder;
  readonly lots: number;
  readonly valueMicro: number;
  readonly takenMicro: number;
  readonly feeMicro: number;
}

export interface UnsettledChecks {
  /** Adds a match with its records, part by part. */
  add(match: Match, records: readonly (Buffer | null)[]): void;
  /** `changed` as `changedSince` returns it, read after all matches were added. */
  check(changed: ReadonlySet<string> | null, yieldToEventLoop: EventLoopYield): Promise<void>;
}

/** A settlement that ended shortly before the snapshot, or after it. */
interface Recent {
  readonly match: string;
  /** The match has no other settlement. */
  readonly isOnly: boolean;
  readonly legs: readonly Leg[];
}

/** Age before the snapshot at which an ended settlement was over in it; the outbox decides about younger ones. */
const RECENT_MS = 10_000;
const ENTRIES_STEP = 500;
const OVER: readonly number[] = (['CONFIRMED', 'FAILED'] as const).map((status) =>
  SETTLEMENT_STATUSES.indexOf(status),
);

/**
 * Adds up the matches that were not final at the moment of the snapshot, and compares the accounts of funds on a chain with the
 * sums. `atMs` is that moment: records are read after it, so some of them may have ended since.
 */
export function createUnsettledChecks(
  snapshot: Snapshot,
  findings: Findings,
  { hold }: Pick<FundsMark, 'hold'>,
  atMs: number,
): UnsettledChecks {
  /** By wallet, then by asset: empty for collateral, else market and outcome. */
  const sums = new Map<string, Map<string, Amounts>>();
  const values = new Map<string, number>();
  const recent: Recent[] = [];
  const doubtful = new Set<string>();

  function amountsOf(wallet: string, asset: string): Amounts {
    const own = sums.get(wallet) ?? new Map<string, Amounts>();
    sums.set(wallet, own);
    const found = own.get(asset) ?? { outMicro: 0, pendingMicro: 0 };
    own.set(asset, found);
    return found;
  }

  function addLeg({ order, lots, valueMicro, takenMicro, feeMicro }: Leg): void {
    const { maker, marketId, outcome, side } = order;
    const tokens = amountsOf(maker, `${marketId} ${outcome}`);
    const cash = amountsOf(maker, '');
    const [given, got] = side === 0 ? [cash, tokens] : [tokens, cash];
    given.outMicro += takenMicro;
    got.pendingMicro += (side === 0 ? lots * MICRO_PER_LOT : valueMicro) - feeMicro;
    values.set(maker, (values.get(maker) ?? 0) + valueMicro);
  }

  function add({ marketId, place, fills }: Match, records: readonly (Buffer | null)[]): void {
    for (const [part, record] of records.entries()) {
      const own = fills.slice(part * MAKERS_MAX.chain, (part + 1) * MAKERS_MAX.chain);
      const end = record ? endOf(record) : Number.POSITIVE_INFINITY;
      if (end < atMs - RECENT_MS) continue;
      const legs = legsOf(snapshot, own, hold);
      if (end === Number.POSITIVE_INFINITY) for (const leg of legs) addLeg(leg);
      else recent.push({ match: `${marketId} ${place.sequence}`, isOnly: records.length === 1, legs });
    }
  }

  /**
   * A settlement that is over changes no more: one that changed after the snapshot was open in it. `changed` names the matches with
   * such changes; null when the outbox has lost them. Of several settlements of a match it is not known which one changed.
   */
  function judge(changed: ReadonlySet<string> | null): void {
    for (const { match, isOnly, legs } of recent) {
      if (changed && !changed.has(match)) continue;
      for (const leg of legs) {
        if (changed && isOnly) addLeg(leg);
        else doubtful.add(leg.order.maker);
      }
    }
  }

  function compare(wallet: string, asset: string, stored: Partial<Amounts> | undefined): void {
    const expected = sums.get(wallet)?.get(asset) ?? { outMicro: 0, pendingMicro: 0 };
    const [marketId, outcome] = asset.split(' ') as [MarketId, string?];
    const at =
      outcome === undefined
        ? { asset: 'COLLATERAL' as const }
        : { marketId, asset: ASSETS[Number(outcome) as 0 | 1] };
    const text = ({ outMicro = 0, pendingMicro = 0 }: Partial<Amounts> = {}): string =>
      `${formatMicro(outMicro)} out, ${formatMicro(pendingMicro)} pending`;
    findings.compare(text(expected), text(stored), {
      kind: 'UNSETTLED',
      wallet,
      ...at,
      detail: 'amounts of matches that are not final, against the account',
    });
  }

  async function check(changed: ReadonlySet<string> | null, yieldToEventLoop: EventLoopYield): Promise<void> {
    judge(changed);
    for (const wallet of snapshot.accounts()) {
      await yieldToEventLoop();
      if (doubtful.has(wallet)) continue;
      const account = snapshot.cash.get(wallet);
      compare(wallet, '', account?.onChain);
      findings.compare(
        formatMicro(values.get(wallet) ?? 0),
        formatMicro(account?.onChain?.unsettledMicro ?? 0),
        {
          kind: 'UNSETTLED',
          wallet,
          asset: 'COLLATERAL',
          detail: 'value of matches that are not final, against the account',
        },
      );
    }
    for (const name of tokenAccounts()) {
      await yieldToEventLoop();
      const [wallet = '', marketId = ''] = name.split(' ');
      if (doubtful.has(wallet)) continue;
      const held = snapshot.tokens.get(marketId)?.get(wallet);
      for (const outcome of [0, 1] as const)
        compare(wallet, `${marketId} ${outcome}`, held?.[outcome].onChain);
    }
  }

  /** `<wallet> <market>` of every account that there is or must be. */
  function tokenAccounts(): Set<string> {
    const names = new Set<string>();
    for (const [marketId, holders] of snapshot.tokens)
      for (const wallet of holders.keys()) names.add(`${wallet} ${marketId}`);
    for (const [wallet, own] of sums)
      for (const asset of own.keys()) if (asset !== '') names.add(`${wallet} ${asset.split(' ')[0]}`);
    return names;
  }

  return { add, check };
}

/** `<market> <sequence>` of the matches whose settlements changed after an entry of the outbox; null when that entry was trimmed. */
export async function changedSince(
  { redis, keys }: { readonly redis: RedisClient; readonly keys: Keys },
  position: string,
): Promise<ReadonlySet<string> | null> {
  const changed = new Set<string>();
  for (let after = position; ; ) {
    const entries = await redis.xrangeBuffer(keys.outbox, `(${after}`, '+', 'COUNT', ENTRIES_STEP);
    for (const [, fields] of entries) {
      const packed = fields[1] as Buffer;
      if (kindOf(packed) !== 'SETTLE') continue;
      const { marketId, sequence } = OUTBOX_HEAD.read(packed);
      changed.add(`${marketId.toString('latin1')} ${sequence}`);
    }
    after = entries.at(-1)?.[0].toString() ?? after;
    if (entries.length < ENTRIES_STEP) break;
  }
  const kept =
    position === NO_ENTRY || (await redis.xrangeBuffer(keys.outbox, position, position)).length > 0;
  return kept ? changed : null;
}

/** When a settlement ended; never while it is open. */
function endOf(record: Buffer): number {
  const { status, updatedAtMs } = SETTLEMENT.read(record);
  return OVER.includes(status) ? updatedAtMs : Number.POSITIVE_INFINITY;
}

/** The legs of one settlement; none when an order is not stored, which another check reports. */
function legsOf({ orders }: Snapshot, fills: readonly Fill[], hold: FundsMark['hold']): Leg[] {
  const taker = orders.get(fills[0]?.takerHash ?? '');
  if (!taker) return [];
  const makers = fills.flatMap((fill): Leg[] => {
    const order = orders.get(fill.makerHash);
    const valueMicro = fill.sizeLots * ownPrice(fill);
    return order ? [legOf(order, fill.sizeLots, valueMicro, valueMicro, fill.makerFeeMicro)] : [];
  });
  const sum = (of: (fill: Fill) => number): number => fills.reduce((total, fill) => total + of(fill), 0);
  const lots = sum(({ sizeLots }) => sizeLots);
  const valueMicro = sum(({ sizeLots, pricePips }) => sizeLots * pricePips);
  const isAtLimit = hold === 'limit' && taker.orderType !== 'MARKET';
  const paid = isAtLimit ? lots * taker.pricePips : valueMicro;
  return [
    legOf(
      taker,
      lots,
      valueMicro,
      paid,
      sum(({ takerFeeMicro }) => takerFeeMicro),
    ),
    ...makers,
  ];
}

const legOf = (
  order: AuditedOrder,
  lots: number,
  valueMicro: number,
  paid: number,
  feeMicro: number,
): Leg => ({
  order,
  lots,
  valueMicro,
  feeMicro,
  takenMicro: order.side === 0 ? paid : lots * MICRO_PER_LOT,
});
