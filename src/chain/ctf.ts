import { solidityPackedKeccak256 } from 'ethers';

/**
 * Ids of the Conditional Tokens Framework, computed as the contract computes them. So the token ids of a market are the
 * ones on chain even before the first transaction.
 * Source: gnosis/conditional-tokens-contracts, contracts/CTHelpers.sol.
 */

/** Field modulus of alt_bn128, whose curve is y^2 = x^3 + 3. */
const P = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;
const B = 3n;
/** P = 3 (mod 4), so a square root of n, if there is one, is n^((P + 1) / 4). */
const SQRT_EXPONENT = (P + 1n) / 4n;
/** Bit 254 of a collection id selects one of the two y of its x. */
const ODD_TOGGLE = 1n << 254n;

const BYTES32 = /^0x[0-9a-fA-F]{64}$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** Outcome slots of a binary market, and the index sets of its two outcomes: bit 0 is Yes, bit 1 is No. */
const BINARY_SLOTS = 2;
const YES_SET = 1n;
const NO_SET = 2n;

export interface BinaryMarketIds {
  /** 0x + 64 lower-case hex. */
  readonly conditionId: string;
  /** Position ids as decimal strings, Yes first. */
  readonly tokenIds: readonly [string, string];
}

/** keccak256(oracle, questionId, outcomeSlotCount), packed; 0x + 64 lower-case hex. */
export function conditionId(oracle: string, questionId: string, outcomeSlotCount: number): string {
  expect(ADDRESS, oracle, 'oracle');
  expect(BYTES32, questionId, 'questionId');
  return solidityPackedKeccak256(['address', 'bytes32', 'uint256'], [oracle, questionId, outcomeSlotCount]);
}

/**
 * The collection of one index set under no parent: the hash of both, moved up to the next x of a point on
 * alt_bn128, with the parity of its y in bit 254. 0x + 64 lower-case hex.
 */
export function collectionId(condition: string, indexSet: bigint): string {
  expect(BYTES32, condition, 'conditionId');
  const seed = BigInt(solidityPackedKeccak256(['bytes32', 'uint256'], [condition, indexSet]));
  const odd = seed >> 255n !== 0n;
  let x = seed;
  let y: bigint | null = null;
  while (y === null) {
    x = (x + 1n) % P;
    y = squareRoot((x * x * x + B) % P);
  }
  if (odd !== isOdd(y)) y = P - y;
  return `0x${(isOdd(y) ? x ^ ODD_TOGGLE : x).toString(16).padStart(64, '0')}`;
}

/** keccak256(collateral, collectionId), packed: the ERC-1155 token id, as a decimal string. */
export function positionId(collateral: string, collection: string): string {
  expect(ADDRESS, collateral, 'collateral');
  expect(BYTES32, collection, 'collectionId');
  return BigInt(solidityPackedKeccak256(['address', 'bytes32'], [collateral, collection])).toString();
}

/** Condition and token ids of a Yes/No market. Throws a RangeError on malformed input. */
export function binaryMarketIds(market: {
  readonly oracle: string;
  readonly questionId: string;
  readonly collateral: string;
}): BinaryMarketIds {
  const condition = conditionId(market.oracle, market.questionId, BINARY_SLOTS);
  const token = (indexSet: bigint) => positionId(market.collateral, collectionId(condition, indexSet));
  return { conditionId: condition, tokenIds: [token(YES_SET), token(NO_SET)] };
}

const isOdd = (n: bigint): boolean => (n & 1n) === 1n;

/** A square root modulo P, or null when n has none. */
function squareRoot(n: bigint): bigint | null {
  const root = power(n, SQRT_EXPONENT);
  return (root * root) % P === n ? root : null;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base;
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (isOdd(left)) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}

function expect(form: RegExp, value: string, name: string): void {
  if (!form.test(value)) throw new RangeError(`${name} is malformed`);
}
