import { Interface, type InterfaceAbi } from 'ethers';
import type { FaultReason } from '../exchange/chain';
import { type Artifact, MARKET_EXCHANGE } from './artifacts';
import { BadAnswer } from './hex';

/** The exchange contract as the programs see it: names of matches, reasons of failures, topics of events. */

/** The functions, events and errors of contracts/MarketExchange.sol. */
export const EXCHANGE = new Interface(MARKET_EXCHANGE.abi as InterfaceAbi);

/** A settlement, as lua/lib/settlements.lua names it. */
export interface MatchName {
  readonly marketId: string;
  readonly sequence: number;
  readonly part: number;
}

const MARKET_CHARACTERS = 8;
const PART_BITS = 8n;
const SEQUENCE_BITS = 48n;
const lowest = (bits: bigint): bigint => (1n << bits) - 1n;

/** The id of a match on the chain: market (8 characters) | part (8 bits) | sequence (48 bits). */
export function matchId({ marketId, sequence, part }: MatchName): bigint {
  const market = Buffer.from(marketId, 'latin1');
  const isWhole = market.length === MARKET_CHARACTERS && Number.isSafeInteger(sequence) && sequence >= 0;
  if (!isWhole || BigInt(sequence) > lowest(SEQUENCE_BITS) || part < 0 || BigInt(part) > lowest(PART_BITS))
    throw new RangeError(`no match can be named ${marketId}, ${sequence}, ${part}`);
  return (
    (market.readBigUInt64BE() << (PART_BITS + SEQUENCE_BITS)) |
    (BigInt(part) << SEQUENCE_BITS) |
    BigInt(sequence)
  );
}

export function matchOf(id: bigint): MatchName {
  const market = Buffer.alloc(MARKET_CHARACTERS);
  market.writeBigUInt64BE((id >> (PART_BITS + SEQUENCE_BITS)) & lowest(64n));
  return {
    marketId: market.toString('latin1'),
    part: Number((id >> SEQUENCE_BITS) & lowest(PART_BITS)),
    sequence: Number(id & lowest(SEQUENCE_BITS)),
  };
}

/** Why a match was not settled. */
export interface Failure {
  /** The guilty wallet, 0x in lower case; null when no wallet is to blame. */
  readonly wallet: string | null;
  readonly reason: FaultReason;
  /** The name of the contract's error; empty when there is none. */
  readonly error: string;
}

/** By the error that a `Fault` names. A token contract that refuses a transfer for a reason of its own also counts as CALLBACK. */
const WALLET_REASONS: Readonly<Record<string, FaultReason>> = {
  InvalidNonce: 'NONCE',
  InvalidSignature: 'SIGNATURE',
  OrderFilledOrCancelled: 'CANCELLED',
  NotEnoughCollateral: 'COLLATERAL',
  NotEnoughAllowance: 'ALLOWANCE',
  NotEnoughTokens: 'TOKENS',
  NotApproved: 'APPROVAL',
  TransferRefused: 'CALLBACK',
};
const OPERATOR_REASONS: Readonly<Record<string, FaultReason>> = {
  OrderExpired: 'EXPIRED',
  Paused: 'PAUSED',
  NotOperator: 'NOT_OPERATOR',
  InvalidTokenId: 'INVALID_TOKEN',
  NotEnoughGas: 'OUT_OF_GAS',
  ConditionResolved: 'RESOLVED',
};

/** Errors of which the contract gives the same answer at every later block. */
export const FOR_GOOD: ReadonlySet<string> = new Set([
  'OrderFilledOrCancelled',
  'MakingGtRemaining',
  'InvalidAmount',
  'InvalidSignature',
  'FeeTooHigh',
  'NotTaker',
  'NotWhole',
  'NotCrossing',
  'FillNotSold',
  'TooLittleTokensReceived',
  'MismatchedTokenIds',
  'WrongLengths',
  'ConditionResolved',
]);

/** Reads the data of a revert, of `settle` or of a match inside it (`MatchFailed`). */
export function failureOf(data: string): Failure {
  if (data === '0x') return { wallet: null, reason: 'OUT_OF_GAS', error: '' };
  const name = errorNamed(data.slice(0, SELECTOR_DIGITS));
  if (name !== 'Fault' || data.length !== FAULT_DIGITS)
    return { wallet: null, reason: OPERATOR_REASONS[name] ?? 'UNKNOWN', error: name };
  const words = wordsOf(`0x${data.slice(SELECTOR_DIGITS)}`, 'fault');
  const why = errorNamed(
    `0x${words
      .at(1)
      .toString(16)
      .padStart(WORD_DIGITS, '0')
      .slice(0, SELECTOR_DIGITS - 2)}`,
  );
  const reason = WALLET_REASONS[why];
  if (!reason) return { wallet: null, reason: 'UNKNOWN', error: why };
  return { wallet: addressIn(words.at(0)), reason, error: why };
}

const SELECTOR_DIGITS = 10;
/** A selector, a wallet and a selector, each of the latter in a word. */
const FAULT_DIGITS = SELECTOR_DIGITS + 2 * 64;

function errorNamed(selector: string): string {
  if (selector.length < SELECTOR_DIGITS) return '';
  return EXCHANGE.getError(selector)?.name ?? '';
}

export type EventName =
  | 'OrderFilled'
  | 'MatchSettled'
  | 'MatchFailed'
  | 'Held'
  | 'CancelRequested'
  | 'NonceRaiseRequested';

export function topicOf(name: EventName): string {
  const event = EXCHANGE.getEvent(name);
  if (!event) throw new Error(`the exchange contract has no event ${name}`);
  return event.topicHash;
}

const WORD_DIGITS = 64;

/** The words of encoded data, without decoding each by its type. */
export function wordsOf(data: string, what: string): { readonly count: number; at(index: number): bigint } {
  const digits = data.length - 2;
  if (digits < 0 || digits % WORD_DIGITS !== 0) throw new BadAnswer(what);
  const count = digits / WORD_DIGITS;
  return {
    count,
    at(index) {
      if (index >= count) throw new BadAnswer(what);
      const start = 2 + index * WORD_DIGITS;
      return BigInt(`0x${data.slice(start, start + WORD_DIGITS)}`);
    },
  };
}

export const addressIn = (word: bigint): string =>
  `0x${(word & lowest(160n)).toString(16).padStart(40, '0')}`;

/** The data of a creation: code, then the encoded arguments. */
export const creationData = ({ bytecode }: Artifact, args: string): string => bytecode + args.slice(2);
