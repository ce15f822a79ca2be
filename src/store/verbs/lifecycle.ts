import { Refusal } from '../../exchange/errors';
import type { Market } from '../../exchange/facts';
import {
  MARKET_STATUSES,
  type MarketId,
  type MarketStatus,
  type MarketTerms,
  type OutcomeIndex,
} from '../../exchange/market';
import { MODES, type Mode } from '../../exchange/status';
import { decodeMarket, encodeMarket, VOID } from '../records/market';
import { hashHex } from '../records/order';
import type { Keys } from '../redis/keys';
import { refusalCode, scriptRefusal } from '../redis/refusals';
import type { RunScript } from '../redis/scripts';
import type { Invalidation } from './invalidate';

/** The most accounts that one step of pay_holders pays. */
const PAY_MAX = 200;
/** The most repetitions of an edit when other edits come in between. */
const EDIT_TRIES = 20;
/** The most calls that end withdrawn orders before the mode is NORMAL; each ends some hundred. */
const MODE_STEPS_MAX = 1_000;
const NONCE_PAIR = 2;

export interface Lifecycle {
  /**
   * create_market: throws INVALID_REQUEST when a name is taken, or when its event has another title or is full.
   * `reads.market` decodes `document`; `shard` is the number of the partition that the operator chose.
   */
  createMarket(
    market: Pick<MarketTerms, 'id' | 'conditionId' | 'slug' | 'event'> & { readonly shard?: number },
    document: string,
    status: MarketStatus,
  ): Promise<void>;
  /** move_market: throws MARKET_NOT_FOUND; MARKET_NOT_OPEN when its status does not allow the move. */
  moveMarket(marketId: MarketId, to: MarketStatus, from: readonly MarketStatus[]): Promise<void>;
  /** move_market: closes a market whose closing time has come, by the clock of Redis. Returns false when it has not come. */
  closeWhenDue(marketId: MarketId): Promise<boolean>;
  /**
   * resolve_market: an outcome has won or, with null, the market is void. Throws MARKET_NOT_FOUND, and MARKET_NOT_OPEN for a
   * draft or a market with another result. `evidence` is a URL; that of the first call stays. Holders are paid after `delayMs`.
   */
  resolveMarket(
    marketId: MarketId,
    outcome: OutcomeIndex | null,
    evidence?: string | null,
    delayMs?: number,
  ): Promise<void>;
  /** unresolve_market: takes a result back. Throws MARKET_NOT_FOUND, and MARKET_NOT_OPEN when the payout is due. */
  unresolveMarket(marketId: MarketId): Promise<void>;
  /** pay_holders: one bounded step; it pays nothing while orders rest. */
  payHolders(marketId: MarketId, most?: number): Promise<{ paid: number; left: boolean }>;
  /**
   * edit_market: `change` is called again when another operator has changed the document meanwhile. Throws MARKET_NOT_FOUND,
   * MARKET_NOT_OPEN.
   */
  editMarket(marketId: MarketId, change: (market: Market) => Market, last: MarketStatus): Promise<void>;
  /**
   * set_mode: sets the mode in every market at once, with the operator's message. On a chain, orders that wallets withdrew there
   * end before it is NORMAL. Throws UNAVAILABLE when they are too many for one call; the mode is CANCEL_ONLY then.
   */
  setMode(mode: Mode, message?: string | null): Promise<void>;
}

/** The verbs of a market's life, and the mode of all of them. */
export function createLifecycle({
  run,
  keys,
  invalidateAll,
}: {
  readonly run: RunScript;
  readonly keys: Keys;
  readonly invalidateAll: Invalidation['invalidateAll'];
}): Lifecycle {
  const agenda = [keys.closes, keys.ending] as const;

  async function createMarket(
    market: Pick<MarketTerms, 'id' | 'conditionId' | 'slug' | 'event'>,
    document: string,
    status: MarketStatus,
  ): Promise<void> {
    const { id, conditionId, slug, event } = market;
    const [code, , detail] = await run(
      'create_market',
      [
        keys.market(id),
        keys.markets,
        keys.marketNames,
        keys.outbox,
        keys.mode,
        ...agenda,
        keys.marketList,
        keys.events,
      ],
      [
        ...([id, document, conditionId, slug, MARKET_STATUSES.indexOf(status), keys.prefix] as const),
        ...([event?.slug ?? '', event?.title ?? ''] as const),
      ],
    );
    if (code.toString() !== 'OK') throw notCreated(code.toString(), detail?.toString() ?? '', slug);
  }

  async function moveMarket(
    marketId: MarketId,
    to: MarketStatus,
    from: readonly MarketStatus[],
  ): Promise<void> {
    const [code, status] = await move(marketId, to, from, false);
    accepted(code, status);
  }

  async function closeWhenDue(marketId: MarketId): Promise<boolean> {
    const [code, status] = await move(marketId, 'CLOSED', ['OPEN', 'PAUSED'], true);
    if (code.toString() === 'NOT_DUE') return false;
    accepted(code, status);
    return true;
  }

  async function move(
    marketId: MarketId,
    to: MarketStatus,
    from: readonly MarketStatus[],
    byTime: boolean,
  ): Promise<[Buffer, number]> {
    const codes = from.map((status) => MARKET_STATUSES.indexOf(status)).join('');
    const [code, , status] = await run(
      'move_market',
      [keys.market(marketId), keys.outbox, ...agenda, keys.markets],
      [keys.prefix, marketId, MARKET_STATUSES.indexOf(to), codes, byTime ? 1 : 0],
    );
    return [code, status];
  }

  async function resolveMarket(
    marketId: MarketId,
    outcome: OutcomeIndex | null,
    evidence: string | null = null,
    delayMs = 0,
  ): Promise<void> {
    const [code, , status] = await run(
      'resolve_market',
      [keys.market(marketId), keys.outbox, keys.ending, keys.closes, keys.markets],
      [keys.prefix, marketId, outcome ?? VOID, evidence ?? '', delayMs],
    );
    accepted(code, status);
  }

  async function unresolveMarket(marketId: MarketId): Promise<void> {
    const [code, , status] = await run(
      'unresolve_market',
      [keys.market(marketId), keys.outbox, keys.ending, keys.closes, keys.markets],
      [keys.prefix, marketId],
    );
    accepted(code, status);
  }

  async function payHolders(marketId: MarketId, most = PAY_MAX): Promise<{ paid: number; left: boolean }> {
    const [paid, left] = await run(
      'pay_holders',
      [
        keys.market(marketId),
        keys.bids(marketId),
        keys.asks(marketId),
        keys.tokens(marketId),
        keys.paid(marketId),
        keys.cash,
        keys.outbox,
        keys.ending,
      ],
      [keys.prefix, marketId, most],
    );
    return { paid, left: left === 1 };
  }

  async function editMarket(
    marketId: MarketId,
    change: (market: Market) => Market,
    last: MarketStatus,
  ): Promise<void> {
    let before = '';
    for (let turn = 0; turn < EDIT_TRIES; turn++) {
      const after = before && encodeMarket(change(decodeMarket(Buffer.from(before))));
      const [code, , detail] = await run(
        'edit_market',
        [keys.market(marketId), keys.markets, keys.outbox, ...agenda],
        [keys.prefix, marketId, before, after, MARKET_STATUSES.indexOf(last)],
      );
      if (code.toString() !== 'CHANGED') return accepted(code, Number(detail));
      before = String(detail);
    }
    throw new Refusal('UNAVAILABLE', 'another operator is editing this market; retry');
  }

  async function setMode(mode: Mode, message: string | null = null): Promise<void> {
    const args = [keys.prefix, MODES.indexOf(mode), message ?? ''] as const;
    for (let step = 0; step < MODE_STEPS_MAX; step++) {
      const reply = await run('set_mode', [keys.mode, keys.markets, keys.notice], args);
      if (typeof reply === 'number') return;
      const [, ...raised] = reply;
      for (let i = 0; i + 1 < raised.length; i += NONCE_PAIR)
        await invalidateAll(hashHex(raised[i] as Buffer), Number(raised[i + 1]));
    }
    throw new Refusal(
      'UNAVAILABLE',
      'orders that wallets withdrew on the chain are still ending, and the mode is CANCEL_ONLY; repeat the request',
    );
  }

  return {
    createMarket,
    moveMarket,
    closeWhenDue,
    resolveMarket,
    unresolveMarket,
    payHolders,
    editMarket,
    setMode,
  };
}

/** The reason why create_market created nothing, or claim_market claimed nothing. */
export function notCreated(code: string, detail: string, slug: string): Refusal {
  const refused = (path: string, message: string, text: string): Refusal =>
    new Refusal('INVALID_REQUEST', text, { errors: [{ path, message }] });
  if (code === 'EVENT_TITLE') {
    const message = `must be ${JSON.stringify(detail)}, as in the other markets of this event`;
    return refused('event.title', message, `event.title ${message}`);
  }
  if (code === 'EVENT_FULL') {
    return refused('event', 'has no place left', `the event ${detail} has 50 markets; choose another event`);
  }
  const path = detail === slug ? 'slug' : 'questionId';
  return refused(path, 'belongs to another market', `another market has this ${path}; choose another`);
}

function accepted(code: Buffer, status: number): void {
  const text = code.toString();
  if (text === 'OK') return;
  throw text === 'MARKET_NOT_OPEN' ? scriptRefusal(text, [status]) : new Refusal(refusalCode(text));
}
