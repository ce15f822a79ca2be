import { formatLots, formatPips, lots, micro, pips } from '../../src/exchange/units';
import type { OutboxEvent } from '../../src/store/outbox/outbox';
import type { OrderRecord } from '../../src/store/records/order';
import type { PlaceRequest } from '../../src/store/verbs/place';
import type { Model } from '../model/exchange';
import type { BookedFill, ModelOrder } from '../model/matching';
import { check } from '../store/fuzzing/check';
import type { Answer } from '../support/client';
import type { Signed } from './people';

/** A submission as sent, alone, in a batch or as a replacement, and its answer when it was booked. */
export interface Sent {
  readonly signed: Signed;
  readonly marketId: string;
  readonly maker: string;
  readonly orderType: 'GTC' | 'IOC' | 'FOK' | 'POST_ONLY';
  readonly selfTradePrevention: 'NONE' | 'CANCEL_TAKER' | 'CANCEL_MAKER' | 'CANCEL_BOTH';
  readonly oldHash: string | null;
  /** Null when it was refused, booked before or not answered. */
  answer: Answer['body'] | null;
}

/** The answer of a cancel-all: for each market, the number below which the wallet has no open order. */
export interface Emptied {
  readonly maker: string;
  readonly numbers: Readonly<Record<string, number>>;
}

/** Everything that the exchange stored and answered. */
export interface History {
  readonly events: readonly OutboxEvent[];
  readonly sent: ReadonlyMap<string, Sent>;
  readonly records: ReadonlyMap<string, OrderRecord>;
  readonly emptied: readonly Emptied[];
}

export type Remember = (order: ModelOrder, fills: readonly BookedFill[]) => void;

/** The submission in the terms of the model, which ignores the signed struct. */
const requestOf = (sent: Sent, signed: Buffer): PlaceRequest => ({
  marketId: sent.marketId,
  orderHash: sent.signed.orderHash,
  maker: sent.maker,
  orderType: sent.orderType,
  order: {
    side: sent.signed.side === 'BUY' ? 0 : 1,
    outcome: sent.signed.outcome,
    pricePips: pips(sent.signed.pips),
    sizeLots: lots(sent.signed.lots),
    budgetMicro: micro(0),
  },
  selfTradePrevention: sent.selfTradePrevention,
  expirationSec: sent.signed.expiration,
  nonce: 0,
  feeRateBps: 0,
  lotLots: lots(1),
  deadlineMs: 0,
  clientOrderId: null,
  signed,
  dryRun: false,
});

const text = (value: unknown): string => JSON.stringify(value);

/** The first answer to a submission must state what the model says at its number. */
function checkAnswer({ answer }: Sent, order: ModelOrder, fills: readonly BookedFill[]): void {
  if (answer === null) return;
  const { sequence, status, reason, filledSize, fillCount } = answer;
  const { filled } = order;
  const expected = [order.sequence, order.status, order.reason, formatLots(Number(filled)), fills.length];
  check('answer', text(expected), text([sequence, status, reason, filledSize, fillCount]));
  const shown: { price: string; size: string; makerOrderHash: string }[] = answer.fills;
  check(
    'fills of an answer',
    text(fills.slice(-shown.length || fills.length).map((fill) => fillOf(fill))),
    text(shown.map(({ price, size, makerOrderHash }) => [makerOrderHash, price, size])),
  );
}

const fillOf = ({ maker, price, lots: size }: BookedFill) => [
  maker.request.orderHash,
  formatPips(Number(price)),
  formatLots(Number(size)),
];

/**
 * Plays the commands of the exchange, in the order of its outbox, through the model, and compares each command. The numbers
 * of a market must have no gap. Throws a Mismatch at the first difference.
 */
export function replay(model: Model, { events, sent, records, emptied }: History, remember: Remember): void {
  const replaced = new Map<string, string>();
  const reasonOf = (hash: string): string => records.get(hash)?.reason ?? '';

  function place(event: OutboxEvent, hash: string): void {
    const one = sent.get(hash);
    if (!one) throw new Error(`${hash} was never sent`);
    const oldHash = replaced.get(event.marketId) ?? null;
    replaced.delete(event.marketId);
    check('the order that was replaced', one.oldHash, oldHash);
    const request = requestOf(one, records.get(hash)?.signed ?? Buffer.alloc(0));
    const answer = model.place(request, event.timestampMs, oldHash);
    if (answer.code !== 'BOOKED' || !('fills' in answer))
      throw new Error(`number ${event.sequence}: the model says ${answer.code}`);
    checkAnswer(one, answer.order, answer.fills);
    remember(answer.order, answer.fills);
  }

  function leave({ kind, marketId, orderHashes, timestampMs }: OutboxEvent): void {
    const reasons = new Set(orderHashes.map(reasonOf));
    check('reasons of one command', 1, reasons.size);
    const [reason = ''] = reasons;
    if (reason === 'REPLACED') return void replaced.set(marketId, orderHashes[0] ?? '');
    check('kind of the end', kind === 'EXPIRE', reason === 'EXPIRED');
    const list = model.market(marketId).resting.filter((o) => orderHashes.includes(o.request.orderHash));
    model.leave(marketId, list, reason, timestampMs);
  }

  for (const [at, event] of events.entries()) {
    const { kind, marketId, sequence, orderHashes, wallets, moves } = event;
    // The model grants by itself, with the command that the grant comes before.
    if (moves.some(({ reason }) => reason === 'GRANT')) continue;
    const before = model.emitted.length;
    if (kind === 'BALANCE') {
      for (const [i, who] of wallets.entries())
        model.convert(marketId, who, BigInt(moves[i]?.yesMicro ?? 0), `${who} ${at}`);
    } else if (kind === 'MARKET') {
      model.addMarket(marketId);
    } else if (kind === 'ORDER' || kind === 'TRADE') {
      place(event, orderHashes[0] ?? '');
    } else {
      leave(event);
    }
    if (replaced.has(marketId)) continue;
    const told = model.emitted.slice(before).at(-1);
    const touched = [told?.kind, told?.sequence, ...[...(told?.orders ?? [])].sort()];
    check('what a command did', text(touched), text([kind, sequence, ...[...orderHashes].sort()]));
    for (const { maker, numbers } of emptied) {
      if (numbers[marketId] !== sequence) continue;
      const open = model.market(marketId).resting.filter(({ request }) => request.maker === maker);
      check('open orders at the number of a cancel-all', 0, open.length);
    }
  }
}
