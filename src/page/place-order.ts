import {
  ExchangeError,
  type Market,
  type NewOrder,
  type Order,
  type Placed,
  type SignedOrder,
  type Signer,
  type Submission,
} from 'ctf-exchange-client';
import { account, isOpen, reloadAccount, showOrder } from './account-data';
import { client, type Wallet } from './exchange';
import { exchangeState } from './exchange-state';
import { connection, isLiveSoon, judgeNow, type Shown } from './market-data';
import type { Inputs, Standing } from './order-draft';
import { filledWords } from './order-words';
import { namesOf } from './outcome-names';
import { forgetSent, keepSent, type SentOrder, sentOrders } from './sent-orders';
import { signerOf } from './sign-in';
import { tell } from './toasts';
import { centsOf, clockTime, lotsOf, nowMs, shares } from './units';
import './refusal-words';
import { type Refused, wordsFor } from './words';

/** The result of an order in words, and the field of the ticket to which they belong. */
export interface Said extends Refused {
  readonly tone: 'done' | 'refused';
  /** Whether what it says is still the case; without it, it is until the order is changed. */
  readonly holds?: (() => boolean) | undefined;
  /** The page found it by itself, and finds it again until it no longer is. */
  readonly isJudged?: boolean;
  /** What became of an order that was booked. */
  readonly became?: 'filled' | 'resting';
}

/** How far an order is: it waits for a right book, the wallet signs it, the exchange has it. */
export type Step = 'book' | 'signing' | 'sending';

/** What `holds` does not see now stays until the order is changed. */
const refusal = (refused: Refused, holds?: () => boolean): Said => ({
  tone: 'refused',
  ...refused,
  holds: holds?.() ? holds : undefined,
});

/** The cause of a refusal that can pass by itself. */
function causeOf(error: unknown): (() => boolean) | undefined {
  if (!(error instanceof ExchangeError)) return undefined;
  const { code } = error;
  const balances = (): string => JSON.stringify(account.get().balances);
  const before = balances();
  if (code === 'INSUFFICIENT_BALANCE') return () => balances() === before;
  if (code === 'HALTED' || code === 'CANCEL_ONLY') return () => exchangeState.get()?.mode === code;
  return error.status === 0 || error.status === 503 ? isAway : undefined;
}

const isAway = (): boolean => connection.get() !== 'live';

/** Checks, signs and sends an order; returns the answer in words. */
export async function place(
  inputs: Inputs,
  shown: Shown,
  standing: Standing,
  wallet: Wallet,
  onStep: (step: Step) => void = () => undefined,
): Promise<Said> {
  if (inputs.orderType === 'MARKET') {
    if (isAway()) onStep('book');
    const text =
      'The book may be old until the connection is back, so a market order has to wait. A limit order works.';
    if (!standing.book || !(await isLiveSoon())) return refusal({ field: 'form', text }, isAway);
  }
  const judged = judgeNow(inputs, standing);
  if ('refused' in judged) return { ...refusal(judged.refused), isJudged: true };
  const names = namesOf(shown.market);
  const { tickSize, lotSize, minOrderSize } = shown.market;
  try {
    const placed = await signAndSend(judged.order, shown, await signerOf(wallet), onStep);
    const record = recordOf(judged.order, shown.market, wallet, placed);
    showOrder(record);
    reloadAccount();
    const text = happened(inputs, placed, names[inputs.outcome]);
    const done = { tone: 'done', field: 'form', text } as const;
    if (isOpen(record)) return { ...done, became: 'resting', holds: () => rests(record) };
    return placed.averagePrice === null ? done : { ...done, became: 'filled' };
  } catch (error) {
    const words = { side: inputs.side, outcome: names[inputs.outcome], names, tick: tickSize, lot: lotSize };
    return refusal(wordsFor(error, { ...words, least: minOrderSize }), causeOf(error));
  }
}

/** Whether as much of the order still waits as its record says. */
function rests({ orderHash, remainingSize }: Order): boolean {
  const now = account.get().orders?.find((order) => order.orderHash === orderHash);
  return !now || (isOpen(now) && now.remainingSize === remainingSize);
}

/** The signatures of the orders that this page is sending or asking about. */
const underWay = new Set<string>();

/** The order is kept in this tab from its signature to its answer, because a reload must not leave its owner in doubt. */
async function signAndSend(
  order: NewOrder,
  { trading, market }: Pick<Shown, 'trading' | 'market'>,
  signer: Signer,
  onStep: (step: Step) => void,
): Promise<Placed> {
  let sent: SentOrder | null = null;
  // Where the answer is missing, it stays for `settleSent`.
  const end = (isAnswered: boolean): void => {
    if (!sent) return;
    underWay.delete(sent.body.order.signature);
    if (isAnswered) forgetSent(sent);
  };
  const signTypedData: Signer['signTypedData'] = async (domain, types, value) => {
    // The exchange refused the one before, and says what to sign instead.
    end(true);
    onStep('signing');
    const signature = await signer.signTypedData(domain, types, value);
    const signed = { ...value, signature } as unknown as SignedOrder;
    sent = { marketId: market.id, body: { order: signed, orderType: order.orderType }, atMs: nowMs() };
    underWay.add(signature);
    keepSent(sent);
    onStep('sending');
    return signature;
  };
  try {
    const placed = await client.placeOrder({ ...signer, signTypedData }, trading ?? market.id, order);
    end(true);
    return placed;
  } catch (error) {
    const isUnknown = error instanceof ExchangeError && error.isOutcomeUnknown;
    end(!isUnknown);
    if (isUnknown) void settleSent();
    throw error;
  }
}

/** A request is booked within this time of its sending, or never. */
const BOOKED_MS_MAX = 5_000;

/** Says what became of the orders whose answers were lost. */
export async function settleSent(): Promise<void> {
  for (const sent of sentOrders()) {
    const { signature } = sent.body.order;
    if (underWay.has(signature)) continue;
    underWay.add(signature);
    await settle(sent).finally(() => underWay.delete(signature));
  }
}

/** An answer about the session, the wallet that asks or its limits, or of a proxy, says nothing of the order. */
const ABOUT_REQUEST = [401, 403, 408, 429];
const isRefusal = (error: unknown): error is ExchangeError =>
  error instanceof ExchangeError &&
  error.problem !== null &&
  error.status < 500 &&
  !ABOUT_REQUEST.includes(error.status);

async function settle(sent: SentOrder): Promise<void> {
  const name = `Your order of ${clockTime(sent.atMs)}`;
  // The client sends the order again for a while, so the latest attempt may have left just now.
  await new Promise((resolve) => setTimeout(resolve, BOOKED_MS_MAX));
  try {
    // Nothing is booked by this: an order that was booked returns its record.
    const { replayed } = await client.submitOrder(sent.marketId, sent.body, { dryRun: true });
    tell(`${name} was ${replayed ? '' : 'not '}placed.`, replayed ? 'good' : 'bad');
    if (replayed) reloadAccount();
  } catch (error) {
    // The exchange is asked again at the next connection.
    if (!isRefusal(error)) return;
    // It was placed with another type.
    const isPlaced = error.code === 'DUPLICATE_ORDER';
    tell(`${name} was ${isPlaced ? '' : 'not '}placed.`, isPlaced ? 'good' : 'bad');
  }
  forgetSent(sent);
}

/** Makes a record of the answer, to show it at once; the exchange's own record follows. */
function recordOf(order: NewOrder, market: Market, { address }: Wallet, placed: Placed): Order {
  const { outcomeIndex, side, orderType = 'GTC' } = order;
  return {
    ...placed,
    marketId: market.id,
    conditionId: market.conditionId,
    maker: address,
    outcomeIndex,
    tokenId: market.outcomes[outcomeIndex]?.tokenId ?? '',
    side,
    orderType,
    expiration: placed.signed.expiration,
    clientOrderId: null,
    updatedAt: placed.createdAt,
    fills: [],
  };
}

/** The result of an order in a sentence. */
function happened(inputs: Inputs, placed: Submission, name: string): string {
  const { status, remainingSize, price: limit } = placed;
  const filled = filledWords(inputs.side, placed, name);
  const isResting = status === 'OPEN' || status === 'PARTIALLY_FILLED';
  if (isResting) {
    const rest = `${shares(lotsOf(remainingSize))} at ${centsOf(limit)} ${filled ? 'wait' : 'now wait'} in the book`;
    return filled ? `${filled}; ${rest}.` : `Order placed: ${rest}.`;
  }
  if (filled === null) return 'No shares were available within your price, so the order was not filled.';
  return status === 'FILLED' ? filled : `${filled}; the rest was not available`;
}
