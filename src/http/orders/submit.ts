import { checksumAddress } from '../../auth/address';
import { confirmByContract, contractSignature, isCheckedInVain } from '../../auth/contract-signature';
import type { Caller } from '../../auth/sessions';
import { Refusal } from '../../exchange/errors';
import type { Market } from '../../exchange/facts';
import type { MarketTerms, OutcomeIndex } from '../../exchange/market';
import {
  checkExpiry,
  checkImmediateExpiry,
  checkTerms,
  NONCE_AHEAD_MAX,
  orderOf,
  outcomeOfOrder,
  SIGNATURE_TYPE_CONTRACT,
  type SignedOrder,
} from '../../exchange/order';
import type { OrderType } from '../../exchange/status';
import { MICRO_PER_ONE } from '../../exchange/units';
import type { Fill, OrderRecord } from '../../store/records/order';
import { tradeId } from '../../store/records/order-views';
import { packSigned } from '../../store/records/signed-order';
import type { PlaceReply, PlaceRequest } from '../../store/verbs/place';
import { presentSubmission } from '../../wire/answers/order';
import { SUBMISSION_COSTS } from '../../wire/limits';
import { type SubmitBody, signedOrderOf } from '../../wire/requests/orders';
import type { Context } from '../context';
import type { AnswerHead } from '../endpoint';
import { refusalOf } from '../server/failures';
import type { BatchTurn } from './batch-order';
import { createReplays, type Replay, type Replays } from './replays';

export interface Submission {
  /** Id, slug or condition id, as sent; the market itself for the orders of a batch. */
  readonly market: string | Market;
  readonly body: SubmitBody;
  readonly caller: Caller | null;
  readonly dryRun: boolean;
  /** The client's IP address, as `clientAddress` returns it. */
  readonly address: string;
  /** The response into whose headers the limiter writes the remaining allowance. */
  readonly response: AnswerHead;
  /** As in `Call`; the same for all orders of a batch. */
  readonly arrivedAt: number;
  /** The function that books the order: by default `engine.place`, another one for a replacement. */
  readonly book?: (request: PlaceRequest) => Promise<PlaceReply>;
  /** Set for an order of a batch. */
  readonly turn?: BatchTurn;
}

export interface Submitted {
  readonly answer: ReturnType<typeof presentSubmission>;
  /** This order was accepted before. */
  readonly replayed: boolean;
}

type SubmitContext = Context & { readonly replays: Replays };

export type Submit = (submission: Submission) => Promise<Submitted>;

/** The script packs a nonce in 4 bytes. */
const NONCE_MAX = 2n ** 32n - 1n;
const DEADLINE_MAX_MS = 2 ** 48 - 1;
/** Refusals of a FOK order that walked the book without a fill. */
const FOK_WALKED: ReadonlySet<string> = new Set(['FOK_NOT_FILLED', 'SELF_TRADE']);
/** Added to its cost as an order. */
const FOK_CHARGE = SUBMISSION_COSTS.refusedFok - SUBMISSION_COSTS.order;
const SIGNATURE_CHARGE = SUBMISSION_COSTS.wrongSignature - SUBMISSION_COSTS.order;

/**
 * Books one signed order. An order that passes every check costs one round trip: that of the script. The script decides
 * whether the order is a duplicate and whether its nonce is current. docs/use/interface.md puts those two before the checks
 * here; so when a check fails, Redis is asked first whether one of the two is the answer.
 */
export function createSubmit(routes: Context): Submit {
  const { observer, shedding, limiter, reads } = routes;
  const context: SubmitContext = { ...routes, replays: createReplays(reads) };
  return async (submission) => {
    const admitted = () => shedding.guard(() => submit(context, submission));
    if (submission.dryRun) return admitted();
    try {
      const submitted = await admitted();
      observer.order(submitted.replayed ? 'replayed' : 'accepted', submitted.answer.status);
      return submitted;
    } catch (error) {
      const { code } = refusalOf(error);
      if (submission.body.orderType === 'FOK' && FOK_WALKED.has(code))
        limiter.charge('submissions', submission.address, FOK_CHARGE);
      observer.order('refused', code);
      throw error;
    }
  };
}

async function submit(context: SubmitContext, submission: Submission): Promise<Submitted> {
  const { body, caller, dryRun, arrivedAt, address } = submission;
  const signed = signedOrderOf(body.order, checksumAddress);
  if (caller && caller.address !== signed.maker) {
    throw new Refusal(
      'MAKER_MISMATCH',
      `the bearer token belongs to ${caller.address}, the order to ${signed.maker}; sign in as the maker or omit the token`,
    );
  }
  const { market } = submission;
  const { terms } = typeof market === 'string' ? await context.marketOf(market) : market;
  const outcome = outcomeOfOrder(signed, terms);
  const orderType = body.orderType ?? 'GTC';
  const progress: Progress = { stage: 'terms' };
  let request: PlaceRequest;
  try {
    request = check(
      context,
      { signed, outcome, terms, orderType, body, dryRun, arrivedAt, address },
      progress,
    );
  } catch (refusal) {
    return explain(context, submission, { refusal, stage: progress.stage, signed, orderType });
  }
  if (signed.signatureType === SIGNATURE_TYPE_CONTRACT) {
    const before = await confirm(context, submission, { signed, orderType, orderHash: request.orderHash });
    if (before) return before;
  }
  if (!dryRun) await admit(context, submission, signed.maker);
  const { book = context.engine.place, turn } = submission;
  if (turn) await turn.othersSent;
  checkWaiting(submission);
  const booked = book(request);
  turn?.sent();
  const { record, replayed: isReplay, fills } = await booked;
  if (!isReplay && !dryRun && record.fillCount > 0)
    context.observer.traded(record.fillCount, record.quoteMicro / MICRO_PER_ONE);
  return isReplay ? repeated(context, record, orderType) : accepted(record, fills);
}

/** An order whose caller has already received a time-out goes no further. */
function checkWaiting({ response }: Submission): void {
  if (response.headersSent) throw new Refusal('UNAVAILABLE');
}

/** After the signature, so that a caller cannot use up the share of another wallet. A known wallet does not wait. */
function admit(
  { limiter, newcomers }: Context,
  { address, response }: Submission,
  maker: string,
): Promise<unknown> {
  const newcomer = newcomers(maker, address, response);
  const order = limiter.take('orders', maker, response);
  return newcomer ? Promise.all([order, newcomer]) : order;
}

/** The progress of an order through the checks, in the order of docs/use/interface.md. */
interface Progress {
  stage: 'terms' | 'nonce' | 'signed';
}

interface Candidate {
  readonly signed: SignedOrder;
  readonly outcome: OutcomeIndex;
  readonly terms: MarketTerms;
  readonly orderType: OrderType;
  readonly body: SubmitBody;
  readonly dryRun: boolean;
  readonly arrivedAt: number;
  readonly address: string;
}

/**
 * Builds the request to the engine; throws the first refusal of the checks from `taker` to `signature`. A contract wallet must
 * still `confirm` its signature.
 */
function check(
  { reads, verifier, walletSignatures, scale, refusal, config }: Context,
  candidate: Candidate,
  progress: Progress,
): PlaceRequest {
  const { signed, outcome, terms, orderType, body, dryRun, arrivedAt, address } = candidate;
  checkTerms(signed, terms, walletSignatures !== null);
  // Checked here, so that a repetition of an accepted order is answered with its record at any backlog.
  const refused = refusal();
  if (refused) throw new Refusal(...refused);
  progress.stage = 'nonce';
  if (signed.nonce > NONCE_MAX) throw new Refusal('INVALID_NONCE_VALUE');
  progress.stage = 'signed';
  const order = orderOf(signed, outcome, orderType, terms, scale);
  const [nowMs, waitedMs] = [reads.clock(), performance.now() - arrivedAt];
  checkExpiry(signed, nowMs);
  if (config.chain) checkImmediateExpiry(signed, orderType, nowMs);
  const orderHash = verifier.hash(signed);
  const isContract = signed.signatureType === SIGNATURE_TYPE_CONTRACT;
  const signature = isContract ? contractSignature(signed, orderHash) : verifier.verify(signed, orderHash);
  return {
    marketId: terms.id,
    orderHash,
    maker: signed.maker,
    order,
    orderType,
    selfTradePrevention: body.selfTradePrevention ?? 'NONE',
    expirationSec: Number(signed.expiration),
    nonce: Number(signed.nonce),
    feeRateBps: terms.feeRateBps,
    lotLots: terms.lotLots,
    // The script takes 0 for "none", the caller for a moment long past.
    deadlineMs: body.deadline === undefined ? 0 : Math.min(Math.max(body.deadline, 1), DEADLINE_MAX_MS),
    arrivedMs: nowMs - waitedMs,
    clientOrderId: body.clientOrderId ?? null,
    signed: packSigned(signed, signature),
    dryRun,
    address,
  };
}

interface Refused {
  readonly refusal: unknown;
  readonly stage: Progress['stage'];
  readonly signed: SignedOrder;
  readonly orderType: OrderType;
}

/** The slow path after a failed check: returns a replay, or throws a refusal of the nonce or of the check itself. */
async function explain(
  context: SubmitContext,
  submission: Submission,
  { refusal, stage, signed, orderType }: Refused,
): Promise<Submitted> {
  if (!(refusal instanceof Refusal)) throw refusal;
  // Also for an order that was accepted before, because its hash does not prove who sends it.
  charge(context, submission, refusal);
  await submission.turn?.othersDone;
  checkWaiting(submission);
  await context.limiter.take('reads', submission.address, submission.response);
  const stored = await context.replays(context.verifier.hash(signed));
  if (stored) return replayed(stored, orderType);
  if (stage !== 'terms') await checkNonce(context, signed);
  throw refusal;
}

function charge({ limiter }: Context, { address, dryRun }: Submission, refusal: unknown): void {
  if (isCheckedInVain(refusal) && !dryRun) limiter.charge('submissions', address, SIGNATURE_CHARGE);
}

async function checkNonce({ reads, config }: Context, { maker, nonce }: SignedOrder): Promise<void> {
  const current = await reads.nonce(maker);
  // The contract also takes a nonce that the wallet has not reached yet.
  const isWrong = config.chain
    ? nonce < BigInt(current) || nonce > BigInt(current + NONCE_AHEAD_MAX)
    : nonce !== BigInt(current);
  if (isWrong) throw wrongNonce(current);
}

interface Unconfirmed {
  readonly signed: SignedOrder;
  readonly orderType: OrderType;
  readonly orderHash: string;
}

/**
 * Asks a contract wallet whether it signed the order, after all that is cheaper. An order that was accepted before is answered
 * without the chain; null for any other that its wallet signed. A batch asks about one order after another.
 */
async function confirm(
  context: SubmitContext,
  submission: Submission,
  { signed, orderType, orderHash }: Unconfirmed,
): Promise<Submitted | null> {
  const { walletSignatures, limiter, replays } = context;
  const { address, response } = submission;
  if (!walletSignatures) throw new Refusal('UNSUPPORTED_SIGNATURE_TYPE');
  await submission.turn?.othersDone;
  checkWaiting(submission);
  await limiter.take('reads', address, response);
  const stored = await replays(orderHash);
  if (stored) return replayed(stored, orderType);
  await checkNonce(context, signed);
  try {
    await confirmByContract(walletSignatures, signed, orderHash, address);
    return null;
  } catch (refusal) {
    charge(context, submission, refusal);
    throw refusal;
  }
}

async function repeated({ replays }: SubmitContext, record: OrderRecord, orderType: OrderType) {
  const stored = await replays(record.orderHash);
  return replayed(stored ?? { record, answer: presentSubmission(record, []) }, orderType);
}

function accepted(record: OrderRecord, fills: readonly Fill[]): Submitted {
  const shown = fills.map((fill) => ({
    ...fill,
    tradeId: tradeId(record.marketId, fill),
    feeMicro: fill.takerFeeMicro,
  }));
  return { answer: presentSubmission(record, shown), replayed: false };
}

/** An order is booked once; sending it again returns its present record. */
function replayed({ record, answer }: Replay, orderType: OrderType): Submitted {
  if (record.orderType !== orderType) {
    throw new Refusal(
      'DUPLICATE_ORDER',
      `the order was accepted before as ${record.orderType}; sign another order with a new salt`,
      {
        orderHash: record.orderHash,
      },
    );
  }
  return { answer, replayed: true };
}

const wrongNonce = (current: number): Refusal =>
  new Refusal('INVALID_NONCE_VALUE', `the maker's nonce is ${current}; sign the order with it`, {
    current: String(current),
  });
