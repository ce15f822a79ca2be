import type { BlockRef, WalletReading } from '../../exchange/chain';
import type { ChainScale } from '../../exchange/order';
import { BLOCK, READING, TOKENS_READING } from '../records/layout';
import { addressBytes, hashBytes } from '../records/order';

/** The flags of a wallet (lua/chain/lib/ledger.lua). */
export const APPROVED = 1;
export const HAS_CODE = 2;
const NONCE_MOST = 4_294_967_295n;
/** The markets of one packed reading; a wallet with more has several, each with the same collateral. */
const MARKETS_MAX = 100;

export const packBlock = ({ number, hash, timeMs }: BlockRef): Buffer =>
  BLOCK.pack({ number, timeMs, hash: hashBytes(hash) });

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/**
 * Packs readings for lua/chain/lib/readings.lua. Amounts are in micro-units, rounded down: the rest of a micro-unit stays out of
 * the books. An amount above the largest exact number counts as that number.
 */
export function packReadings(readings: readonly WalletReading[], scale: ChainScale): Buffer {
  const microOf = (amount: bigint): number =>
    Number(least(amount / scale.microAmount, BigInt(Number.MAX_SAFE_INTEGER)));
  return Buffer.concat(readings.flatMap((reading) => packReading(reading, microOf)));
}

function packReading(reading: WalletReading, microOf: (amount: bigint) => number): Buffer[] {
  const { address, collateral, approvedForAll, minNonce, hasCode, tokens } = reading;
  const head = {
    wallet: addressBytes(address),
    balanceMicro: microOf(collateral.balance),
    allowanceMicro: microOf(collateral.allowance),
    flags: (approvedForAll ? APPROVED : 0) + (hasCode ? HAS_CODE : 0),
    nonce: Number(least(minNonce, NONCE_MOST)),
  };
  const packed: Buffer[] = [];
  for (let from = 0; from === 0 || from < tokens.length; from += MARKETS_MAX) {
    const some = tokens.slice(from, from + MARKETS_MAX);
    packed.push(READING.pack({ ...head, markets: some.length }));
    for (const { marketId, balances } of some) {
      const [yesMicro, noMicro] = [microOf(balances[0]), microOf(balances[1])];
      packed.push(TOKENS_READING.pack({ marketId: Buffer.from(marketId, 'latin1'), yesMicro, noMicro }));
    }
  }
  return packed;
}
