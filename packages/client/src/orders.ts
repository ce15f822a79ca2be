import { buildOrder, type OrderParams, type OrderTerms, signOrder } from './build-order';
import { ExchangeError } from './errors';
import { resolved, UNAUTHORIZED, UNKNOWN } from './outcome';
import type { Sessions, Signer } from './sessions';
import type { Answer, Request, Send } from './transport';
import type { Problem, SelfTradePrevention, Trading } from './types';
import type { BatchResult, Booked, Replacement, SignedOrder, Submission, SubmitBody } from './types-account';

/** An order to place; the maker is the signer, and the client adds fee, nonce and signature type. */
export type NewOrder = Omit<OrderParams, 'maker' | 'signatureType'>;

export interface PlaceOptions {
  readonly clientOrderId?: string | undefined;
  readonly selfTradePrevention?: SelfTradePrevention | undefined;
  /** An order not booked by then is refused; a number is in epoch milliseconds. */
  readonly deadline?: Date | number | undefined;
  /** Returns the same answer and refusals without booking the order. */
  readonly dryRun?: boolean | undefined;
}

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
const CREATE_ATTEMPTS_MAX = 2;

export interface OrdersDeps {
  readonly send: Send;
  readonly sessions: Sessions;
  readonly trading: (marketId: string) => Promise<Trading>;
  readonly decimals: () => Promise<number>;
  readonly resolveMs: number;
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
    orders: readonly (NewOrder & PlaceOptions)[],
  ): Promise<readonly BatchResult[]>;
}

/** `forgetNonces`: call it after the wallet raised its nonce. */
export function createOrders(deps: OrdersDeps): Orders & { forgetNonces(): void } {
  const { send, sessions, trading, decimals, resolveMs } = deps;
  const known = new Map<string, OrderTerms>();
  /** The nonce of each maker, once the exchange has returned it. */
  const nonces = new Map<string, string>();

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

  async function create(terms: OrderTerms, signer: Signer, { nonce, ...order }: NewOrder) {
    const { address: maker, isContract } = signer;
    const unsigned = buildOrder(terms, {
      ...order,
      decimals: order.decimals ?? (await decimals()),
      nonce: nonce ?? nonces.get(maker.toLowerCase()),
      maker,
      signatureType: isContract ? 3 : 0,
    });
    return signOrder(signer, terms.eip712, unsigned);
  }

  async function submitOrder(
    marketId: string,
    body: SubmitBody,
    { dryRun = false }: Submitting = {},
  ): Promise<Placed> {
    const request = requestOf(`/markets/${encodeURIComponent(marketId)}/orders`, body, dryRun);
    return outcomeOf(() => post<Submission>(request, body.order.maker), body);
  }

  async function submitReplacement(
    marketId: string,
    oldHash: string,
    body: SubmitBody,
    { dryRun = false }: Submitting = {},
  ): Promise<Replaced> {
    const path = `/markets/${encodeURIComponent(marketId)}/orders/${encodeURIComponent(oldHash)}/replace`;
    const request = requestOf(path, body, dryRun);
    return outcomeOf(() => sessions.authorized<Replacement>(request), body);
  }

  async function outcomeOf<T extends Submission>(attempt: () => Promise<Answer<T>>, { order }: SubmitBody) {
    const answer = await resolved(attempt, order, resolveMs);
    const replayed = answer.headers.get('idempotent-replayed') === 'true';
    return { ...answer.body, signed: order, replayed };
  }

  const placeOrder: Orders['placeOrder'] = (signer, market, order, options = {}) =>
    signedAnew(signer, market, order, options, (id, body) => submitOrder(id, body, options));

  const replace: Orders['replace'] = (signer, market, oldHash, order, options = {}) =>
    signedAnew(signer, market, order, options, (id, body) => submitReplacement(id, oldHash, body, options));

  /** Builds, signs and sends an order, and once more if the exchange returns another nonce. */
  async function signedAnew<T>(
    signer: Signer,
    market: string | OrderTerms,
    order: NewOrder,
    options: PlaceOptions,
    submit: (marketId: string, body: SubmitBody) => Promise<T>,
  ): Promise<T> {
    const terms = await termsOf(market);
    for (let attempt = 1; ; attempt++) {
      const signed = await create(terms, signer, order);
      try {
        return await submit(terms.market.id, bodyOf(signed, order, options));
      } catch (error) {
        const isOurs = order.nonce === undefined && attempt < CREATE_ATTEMPTS_MAX;
        if (!isOurs || !learnNonce(error, signer.address)) throw error;
      }
    }
  }

  /** Whether the refusal contains the present nonce: the order was not booked, and may be signed again. */
  function learnNonce(error: unknown, maker: string): boolean {
    if (!(error instanceof ExchangeError) || error.code !== 'INVALID_NONCE_VALUE') return false;
    const current = error.problem?.current;
    if (typeof current !== 'string') return false;
    nonces.set(maker.toLowerCase(), current);
    return true;
  }

  async function batch(
    signer: Signer,
    market: string | OrderTerms,
    orders: readonly (NewOrder & PlaceOptions)[],
  ): Promise<readonly BatchResult[]> {
    const terms = await termsOf(market);
    const bodies: SubmitBody[] = [];
    for (const order of orders) {
      const { clientOrderId, selfTradePrevention, deadline, dryRun, ...own } = order;
      const signed = await create(terms, signer, own);
      bodies.push(bodyOf(signed, own, order));
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
      for (const error of results.flatMap(problemOf)) learnNonce(error, signer.address);
      return reply;
    };
    try {
      const sent = bodies.map(({ order }) => order);
      // Sent again as a whole: booked orders return their records.
      const answer = await resolved(attempt, sent, resolveMs, (body) => body.results.flatMap(problemOf));
      return answer.body.results;
    } catch (error) {
      if (results.length === 0 || !(error instanceof ExchangeError) || error.code !== 'OUTCOME_UNKNOWN')
        throw error;
      // Only some of them are answered, and no refusal among them is final.
      return results.map((one) =>
        isBooked(one) ? one : { ...one, code: 'OUTCOME_UNKNOWN', detail: UNKNOWN },
      );
    }
  }

  return { placeOrder, submitOrder, replace, submitReplacement, batch, forgetNonces: () => nonces.clear() };
}

const requestOf = (path: string, body: SubmitBody, dryRun: boolean): Request => ({
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
  deadline: deadline && Math.trunc(Number(deadline)),
});

/** Whether an order of a batch was booked; if not, the result has the reason. */
export const isBooked = (result: BatchResult): result is Booked => 'order' in result;

const problemOf = (result: BatchResult): ExchangeError[] => (isBooked(result) ? [] : [problemError(result)]);

const problemError = (problem: Problem): ExchangeError => new ExchangeError({ ...problem, problem });
