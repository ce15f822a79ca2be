import { EXCHANGE, type MatchName, matchId } from '../../../chain/exchange-contract';
import { SIGNATURE_TYPE_CONTRACT, type SignedOrder } from '../../../exchange/order';
import type { Settlement } from '../../../exchange/settlement';

/** The first bytes of a call. */
function selectorOf(name: 'settle' | 'settleOne'): string {
  const found = EXCHANGE.getFunction(name);
  if (!found) throw new Error(`the exchange contract has no function ${name}`);
  return found.selector;
}
const [SETTLE, SETTLE_ONE] = [selectorOf('settle'), selectorOf('settleOne')];

const WORD_BYTES = 32;
const WORD_DIGITS = 2 * WORD_BYTES;

/** A match as the exchange contract takes it. Its encoding does not depend on the others in a batch. */
export interface EncodedMatch {
  readonly id: bigint;
  /** Hex digits, without 0x. */
  readonly digits: string;
  /** More than it needs, unless a wallet's own code burns the rest. */
  readonly gas: bigint;
}

/** A settlement with its orders. */
export interface SettlementOrders {
  readonly name: MatchName;
  readonly settlement: Settlement;
  readonly taker: SignedOrder;
  readonly makers: readonly SignedOrder[];
}

/**
 * The most gas that a match takes in a batch, and a fifth: of wallets that own nothing yet, with fees, a new word for its id, and
 * the gas that the contract keeps to report it (the table of docs/run/contracts.md). A MINT or MERGE calls the Conditional Tokens
 * twice more.
 */
const MATCH_GAS = 90_000n;
const MAKER_GAS = { COMPLEMENTARY: 160_000n, MINT: 260_000n, MERGE: 260_000n } as const;
/**
 * A contract wallet is asked at every fill: `SIGNATURE_GAS` of contracts/Orders.sol and the call around it, and for each byte of
 * its signature the call data and the copies in memory.
 */
const CONTRACT_SIGNATURE_GAS = 320_000n;
const SIGNATURE_BYTE_GAS = 40n;
/** The cost of a transaction by itself, and the gas that the contract must have left before a wallet's code may run. */
const BASE_GAS = 600_000n;

export function encodeMatch({ name, settlement, taker, makers }: SettlementOrders): EncodedMatch {
  const { takerFillAmount, makerFillAmounts, matchTypes } = settlement;
  const number = matchId(name);
  const makerFills = word(makerFillAmounts.length) + makerFillAmounts.map(word).join('');
  const parts = [orderDigits(taker), listDigits(makers.map(orderDigits)), makerFills] as const;
  const places = placesOf(parts, MATCH_WORDS * WORD_BYTES);
  const head = [word(number), places[0], places[1], word(takerFillAmount), places[2]];
  const settling = matchTypes.reduce((sum, type) => sum + MAKER_GAS[type], MATCH_GAS);
  const gas = [taker, ...makers].reduce((sum, order) => sum + signatureGas(order), settling);
  return { id: number, digits: [...head, ...parts].join(''), gas };
}

/** Those of keys are in the gas of a match. */
const signatureGas = ({ signatureType, signature }: SignedOrder): bigint =>
  signatureType === SIGNATURE_TYPE_CONTRACT
    ? CONTRACT_SIGNATURE_GAS + SIGNATURE_BYTE_GAS * BigInt(signature.length / 2 - 1)
    : 0n;

/*
 * The encoding of the contract's interface, by hand: ethers takes a millisecond for a match, and a lane sends hundreds in a
 * second. A value without a fixed length stands behind the others, and its place, in bytes from their beginning, before them.
 */
const MATCH_WORDS = 5;
const ORDER_WORDS = 13;

function orderDigits(order: SignedOrder): string {
  const { salt, maker, signer, taker, tokenId, makerAmount, takerAmount, signature } = order;
  const { expiration, nonce, feeRateBps, side, signatureType } = order;
  const numbers = [tokenId, makerAmount, takerAmount, expiration, nonce, feeRateBps, side, signatureType];
  const bytes = signature.slice(2);
  const padding = '0'.repeat((WORD_DIGITS - (bytes.length % WORD_DIGITS)) % WORD_DIGITS);
  return [
    ...[salt, BigInt(maker), BigInt(signer), BigInt(taker), ...numbers, ORDER_WORDS * WORD_BYTES].map(word),
    ...[word(bytes.length / 2), bytes, padding],
  ].join('');
}

/** A list of values without a fixed length. */
const listDigits = (items: readonly string[]): string =>
  [word(items.length), ...placesOf(items, items.length * WORD_BYTES), ...items].join('');

function placesOf(parts: readonly string[], from: number): string[] {
  let at = from;
  return parts.map((digits) => {
    const place = word(at);
    at += digits.length / 2;
    return place;
  });
}

/** The call of `settle` with these matches. */
export const settleData = (matches: readonly EncodedMatch[]): string =>
  SETTLE + word(WORD_BYTES) + listDigits(matches.map(({ digits }) => digits));

/** The call of `settleOne`, which only the contract itself may make: for a look at what a match would do. */
export const settleOneData = ({ digits }: EncodedMatch): string => SETTLE_ONE + word(WORD_BYTES) + digits;

export const settleGas = (matches: readonly EncodedMatch[]): bigint =>
  matches.reduce((sum, { gas }) => sum + gas, BASE_GAS);

const word = (n: number | bigint): string => n.toString(16).padStart(WORD_DIGITS, '0');
