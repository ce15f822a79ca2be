import {
  buildOrder,
  checkTerms,
  isImmediate,
  NEW_ORDER,
  type OrderParams,
  type OrderTerms,
  signOrder,
  UNSIGNED,
} from './build-order';
import type { Clock } from './clock';
import { ExchangeError } from './errors';
import { checkMembers, flag, hash, hex, instant, matching, oneOf, optional, type Shape, text } from './input';
import { resolved, UNAUTHORIZED, unknownAfter } from './outcome';
import { checkSigner, type Sessions, type Signer } from './sessions';
import type { Answer, Request, Send } from './transport';
import type { Problem, SelfTradePrevention, Trading } from './types';
import type {
  BatchResult,
  Booked,
  Replacement,
  SignedOrder,
  Submission,
  SubmitBody,
  UnsignedOrder,
} from './types-account';

/**
 * An order to place; the maker is the signer, and the client adds fee, nonce and signature type, and an expiration in 300 s
 * to an order that never rests (MARKET, IOC, FOK).
 */
export type NewOrder = Omit<OrderParams, 'maker' | 'signatureType'>;

export interface PlaceOptions {
  readonly clientOrderId?: string | undefined;
  readonly selfTradePrevention?: SelfTradePrevention | undefined;
  /** An order not booked by then is refused; a number is in epoch milliseconds. */
  readonly deadline?: Date | number | undefined;
  /** Returns the same answer and refusals without booking the order. */
  readonly dryRun?: boolean | undefined;
}

/** An order of a batch, with its options beside its own members. */
export type BatchOrder = NewOrder & Omit<PlaceOptions, 'dryRun'>;

export interface Placed extends Submission {
  /** The signed order; sending it again is safe. */
  readonly signed: SignedOrder;
  /** Whether an earlier attempt with a lost answer had booked it. */
  readonly replayed: boolean;
}

export interface Replaced extends Placed, Replacement {}

/** The latest time after the first attempt at which another begins, while the outcome is unknown. */
export const RESOLVE_MS_MAX = 20_000;
const TERMS_MAX = 1_000;
/** How long the signature of an order that never rests is valid. */
const IMMEDIATE_MS = 300_000;
const BATCH_MAX = 20;

/** The options of an order, also in a batch. */
const OPTIONS: Shape = {
  clientOrderId: optional(matching(/^[A-Za-z0-9_.:-]{1,64}$/, '1 to 64 letters, digits, or _ . : -')),
  selfTradePrevention: optional(oneOf('NONE', 'CANCEL_TAKER', 'CANCEL_MAKER', 'CANCEL_BOTH')),
  deadline: optional(instant),
};
const SUBMITTING: Shape = { dryRun: optional(flag) };
const BATCH_ORDER: Shape = { ...NEW_ORDER, ...OPTIONS };
const PLACE_OPTIONS: Shape = { ...OPTIONS, ...SUBMITTING };
const SIGNED: Shape = { ...UNSIGNED, signature: hex };
const BODY: Shape = {
  ...OPTIONS,
  order: (order) => checkMembers(order, SIGNED, 'a signed order'),
  orderType: NEW_ORDER.orderType as Shape[string],
};
const CREATE_ATTEMPTS_MAX = 2;

/** What a client remembers between orders. */
export interface KnownFacts {
  readonly terms: Map<string, OrderTerms>;
  /** The nonce of each maker, once the exchange has returned it. */
  readonly nonces: Map<string, string>;
}

export interface OrdersDeps {
  readonly send: Send;
  readonly sessions: Sessions;
  readonly trading: (marketId: string) => Promise<Trading>;
  readonly decimals: () => Promise<number>;
  /** The clock of the exchange, epoch milliseconds. */
  readonly clock: Clock;
  readonly resolveMs: number;
  readonly known: KnownFacts;
  readonly signal?: AbortSignal | undefined;
}

interface Submitting {
  readonly dryRun?: boolean | undefined;
}

/**
 * Places orders so that each is booked once or not at all, even if answers are lost. The hash of the signed order identifies
 * it, so a submission with unknown outcome is sent again unchanged.
 */
export interface Orders {
  /** Builds, signs and submits. `market` is an id, a slug, a condition id, or a trading snapshot at hand. */
  placeOrder(
    signer: Signer,
    market: string | OrderTerms,
    order: NewOrder,
    options?: PlaceOptions,
  ): Promise<Placed>;
  /**
   * Sends a signed order until its outcome is known, within bounds. Rejects with the refusal, or with OUTCOME_UNKNOWN when
   * no attempt was answered; then the same body may be sent again at any time.
   */
  submitOrder(marketId: string, body: SubmitBody, options?: Submitting): Promise<Placed>;
  /** Replaces the signer's order `oldHash` of that market by a new order: both happen, or neither. */
  replace(
    signer: Signer,
    market: string | OrderTerms,
    oldHash: string,
    order: NewOrder,
    options?: PlaceOptions,
  ): Promise<Replaced>;
  /**
   * `submitOrder` for a signed order that replaces the order `oldHash`, which is cancelled only if this one is booked. The
   * session must belong to the maker of both.
   */
  submitReplacement(
    marketId: string,
    oldHash: string,
    body: SubmitBody,
    options?: Submitting,
  ): Promise<Replaced>;
  /** Up to 20 orders in one request; each is checked by itself, and booked once however often it is sent. */
  batch(
    signer: Signer,
    market: string | OrderTerms,
    orders: readonly BatchOrder[],
  ): Promise<readonly BatchResult[]>;
}

export function createOrders(deps: OrdersDeps): Orders {
  const { send, sessions, trading, decimals, clock, resolveMs, signal } = deps;
  const { terms: known, nonces } = deps.known;

  /** The permanent facts of a market, requested once. */
  async function termsOf(market: string | OrderTerms): Promise<OrderTerms> {
    if (typeof market !== 'string') return market;
    const found = known.get(market);
    if (found) return found;
    const terms = await trading(market);
    if (known.size >= TERMS_MAX) known.clear();
    known.set(market, terms);
    return terms;
  }

  /**
   * Sends the session only if it belongs to the maker: the signature is enough, and an expired session must not hide the
   * outcome.
   */
  async function post<T>(request: Request, maker: string): Promise<Answer<T>> {
    const isMaker = sessions.current()?.address.toLowerCase() === maker.toLowerCase();
    if (!isMaker) return send<T>(request);
    try {
      return await sessions.authorized<T>(request);
    } catch (error) {
      if (!(error instanceof ExchangeError) || error.status !== UNAUTHORIZED) throw error;
      return send<T>(request);
    }
  }

  async function build(terms: OrderTerms, { address: maker, isContract }: Signer, order: NewOrder) {
    const { nonce = nonces.get(maker.toLowerCase()), orderType } = order;
    const endsAtMs = isImmediate(orderType) ? (await clock.nowMs()) + IMMEDIATE_MS : undefined;
    return buildOrder(terms, {
      ...order,
      expiresAt: order.expiresAt ?? endsAtMs,
      decimals: order.decimals ?? (await decimals()),
      nonce,
      maker,
      signatureType: isContract ? 3 : 0,
    });
  }

  async function submitOrder(marketId: string, body: SubmitBody, options: Submitting = {}): Promise<Placed> {
    text(marketId, 'marketId');
    checkMembers(body, BODY, 'the body of an order');
    checkMembers(options, SUBMITTING, 'the options');
    const request = requestOf(`/markets/${encodeURIComponent(marketId)}/orders`, body, options.dryRun);
    return outcomeOf(() => post<Submission>(request, body.order.maker), body);
  }

  async function submitReplacement(
    marketId: string,
    oldHash: string,
    body: SubmitBody,
    options: Submitting = {},
  ): Promise<Replaced> {
    text(marketId, 'marketId');
    hash(oldHash, 'oldHash');
    checkMembers(body, BODY, 'the body of an order');
    checkMembers(options, SUBMITTING, 'the options');
    const path = `/markets/${encodeURIComponent(marketId)}/orders/${encodeURIComponent(oldHash)}/replace`;
    const request = requestOf(path, body, options.dryRun);
    return outcomeOf(() => sessions.authorized<Replacement>(request), body);
  }

  async function outcomeOf<T extends Submission>(attempt: () => Promise<Answer<T>>, { order }: SubmitBody) {
    const answer = await resolved(attempt, order, resolveMs, undefined, signal);
    const replayed = answer.headers.get('idempotent-replayed') === 'true';
    return { ...answer.body, signed: order, replayed };
  }

  const placeOrder: Orders['placeOrder'] = (signer, market, order, options = {}) =>
    buildAndSubmit(signer, market, order, options, (id, body, submitting) =>
      submitOrder(id, body, submitting),
    );

  const replace: Orders['replace'] = async (signer, market, oldHash, order, options = {}) => {
    hash(oldHash, 'oldHash');
    return buildAndSubmit(signer, market, order, options, (id, body, submitting) =>
      submitReplacement(id, oldHash, body, submitting),
    );
  };

  /** Builds, signs and sends an order, and once more if the exchange answers what to sign instead. */
  async function buildAndSubmit<T>(
    signer: Signer,
    market: string | OrderTerms,
    order: NewOrder,
    options: PlaceOptions,
    submit: (marketId: string, body: SubmitBody, submitting: Submitting) => Promise<T>,
  ): Promise<T> {
    checkSigner(signer);
    checkMarket(market);
    checkMembers(order, NEW_ORDER, 'an order');
    checkMembers(options, PLACE_OPTIONS, 'the options');
    const terms = await termsOf(market);
    for (let attempt = 1; ; attempt++) {
      const signed = await signOrder(signer, terms.eip712, await build(terms, signer, order));
      try {
        return await submit(terms.market.id, bodyOf(signed, order, options), { dryRun: options.dryRun });
      } catch (error) {
        const corrected = correct(error, signer.address);
        const isOurs = corrected !== null && order[corrected] === undefined;
        if (!isOurs || attempt === CREATE_ATTEMPTS_MAX) throw error;
      }
    }
  }

  /** The member that the client filled in wrongly, according to the refusal; it will fill it in rightly from now on. */
  function correct(error: unknown, maker: string): 'nonce' | 'expiresAt' | null {
    if (!(error instanceof ExchangeError)) return null;
    if (error.code === 'INVALID_EXPIRATION' || error.code === 'ORDER_EXPIRED') {
      clock.forget();
      return 'expiresAt';
    }
    const current = error.code === 'INVALID_NONCE_VALUE' ? error.problem?.current : null;
    if (typeof current !== 'string') return null;
    nonces.set(maker.toLowerCase(), current);
    return 'nonce';
  }

  async function batch(
    signer: Signer,
    market: string | OrderTerms,
    orders: readonly BatchOrder[],
  ): Promise<readonly BatchResult[]> {
    checkSigner(signer);
    checkMarket(market);
    if (!Array.isArray(orders) || orders.length === 0 || orders.length > BATCH_MAX)
      throw new RangeError(`orders must be an array of 1 to ${BATCH_MAX}`);
    for (const order of orders) checkMembers(order, BATCH_ORDER, 'an order of a batch');
    const terms = await termsOf(market);
    const bodies: SubmitBody[] = [];
    const unsigned: UnsignedOrder[] = [];
    for (const { clientOrderId, selfTradePrevention, deadline, ...order } of orders)
      unsigned.push(await build(terms, signer, order));
    for (const [i, order] of orders.entries()) {
      const signed = await signOrder(signer, terms.eip712, unsigned[i] as UnsignedOrder);
      bodies.push(bodyOf(signed, order, order));
    }
    const request: Request = {
      method: 'POST',
      path: `/markets/${encodeURIComponent(terms.market.id)}/orders/batch`,
      body: { orders: bodies },
    };
    let results: readonly BatchResult[] = [];
    const attempt = async () => {
      const reply = await post<{ results: readonly BatchResult[] }>(request, signer.address);
      results = reply.body.results;
      for (const error of results.flatMap(problemOf)) correct(error, signer.address);
      return reply;
    };
    try {
      const sent = bodies.map(({ order }) => order);
      // Sent again as a whole: booked orders return their records.
      const answer = await resolved(
        attempt,
        sent,
        resolveMs,
        (body) => body.results.flatMap(problemOf),
        signal,
      );
      return answer.body.results;
    } catch (error) {
      if (results.length === 0 || !(error instanceof ExchangeError) || error.code !== 'OUTCOME_UNKNOWN')
        throw error;
      // Only some of them are answered, and no refusal among them is final.
      return results.map((one) =>
        isBooked(one) ? one : { ...one, code: 'OUTCOME_UNKNOWN', detail: unknownAfter(one) },
      );
    }
  }

  return { placeOrder, submitOrder, replace, submitReplacement, batch };
}

function checkMarket(market: unknown): void {
  if (typeof market === 'string' && market !== '') return;
  checkTerms(market);
}

const requestOf = (path: string, body: SubmitBody, dryRun = false): Request => ({
  method: 'POST',
  path,
  ...(dryRun ? { query: { dryRun: true } } : {}),
  body,
});

/** JSON omits what is undefined. */
const bodyOf = (
  signed: SignedOrder,
  { orderType }: NewOrder,
  { clientOrderId, selfTradePrevention, deadline }: PlaceOptions,
): SubmitBody => ({
  order: signed,
  orderType,
  clientOrderId,
  selfTradePrevention,
  deadline: deadline === undefined ? undefined : Math.trunc(Number(deadline)),
});

/** Whether an order of a batch was booked; if not, the result has the reason. */
export const isBooked = (result: BatchResult): result is Booked => 'order' in result;

const problemOf = (result: BatchResult): ExchangeError[] => (isBooked(result) ? [] : [problemError(result)]);

const problemError = (problem: Problem): ExchangeError => new ExchangeError({ ...problem, problem });
