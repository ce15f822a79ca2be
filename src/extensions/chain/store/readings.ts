import type { BlockRef, WalletReading } from '../../../exchange/chain';
import type { ChainScale } from '../../../exchange/order';
import { BLOCK, READING, TOKENS_READING } from '../../../store/records/layout';
import { addressBytes, hashBytes } from '../../../store/records/order';

/** The flags of a wallet (src/extensions/chain/lua/lib/ledger.lua). */
export const APPROVED = 1;
export const HAS_CODE = 2;
const NONCE_MOST = 4_294_967_295n;
/** Wallets without tokens, and markets of wallets, in one call; each takes about 30 microseconds. */
const WEIGHT_MAX = 100;

export const packBlock = ({ number, hash, timeMs }: BlockRef): Buffer =>
  BLOCK.pack({ number, timeMs, hash: hashBytes(hash) });

/** The number and the hash of a block, without its time; empty for none. */
export function packCursor(block: BlockRef | null): Buffer {
  if (block === null) return Buffer.alloc(0);
  const number = Buffer.alloc(6);
  number.writeUIntBE(block.number, 0, 6);
  return Buffer.concat([number, hashBytes(block.hash)]);
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/**
 * Packs readings for src/extensions/chain/lua/lib/readings.lua. Amounts are in micro-units, rounded down: the rest of a micro-unit stays out of
 * the books. An amount above the largest exact number counts as that number.
 */
export const packReadings = (readings: readonly WalletReading[], scale: ChainScale): Buffer =>
  Buffer.concat(readings.flatMap((reading) => packReading(reading, (amount) => microOf(amount, scale))));

/** An amount in micro-units, rounded down; one above the largest exact number counts as that number. */
export const microOf = (amount: bigint, { microAmount }: ChainScale): number =>
  Number(least(amount / microAmount, BigInt(Number.MAX_SAFE_INTEGER)));

function packReading(reading: WalletReading, micro: (amount: bigint) => number): Buffer[] {
  const { address, collateral, approvedForAll, minNonce, hasCode, tokens } = reading;
  const head = {
    wallet: addressBytes(address),
    balanceMicro: micro(collateral.balance),
    allowanceMicro: micro(collateral.allowance),
    flags: (approvedForAll ? APPROVED : 0) + (hasCode ? HAS_CODE : 0),
    nonce: Number(least(minNonce, NONCE_MOST)),
  };
  return [
    READING.pack({ ...head, markets: tokens.length }),
    ...tokens.map(({ marketId, balances: [yes, no] }) =>
      TOKENS_READING.pack({
        marketId: Buffer.from(marketId, 'latin1'),
        yesMicro: micro(yes),
        noMicro: micro(no),
      }),
    ),
  ];
}

/** A script stores each market of a reading with the collateral. */
const weightOf = ({ tokens }: WalletReading): number => Math.max(1, tokens.length);

/** Divides readings into groups that one call takes; a wallet with more markets has several readings, each with its collateral. */
export function readingGroups(readings: readonly WalletReading[]): WalletReading[][] {
  const groups: WalletReading[][] = [];
  let left = 0;
  for (const reading of readings.flatMap(pieces)) {
    const weight = weightOf(reading);
    if (weight > left) {
      groups.push([]);
      left = WEIGHT_MAX;
    }
    groups.at(-1)?.push(reading);
    left -= weight;
  }
  return groups;
}

const pieces = (reading: WalletReading): WalletReading[] =>
  Array.from({ length: Math.ceil(weightOf(reading) / WEIGHT_MAX) }, (_, i) => ({
    ...reading,
    tokens: reading.tokens.slice(i * WEIGHT_MAX, (i + 1) * WEIGHT_MAX),
  }));
