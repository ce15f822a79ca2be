import { readUInt } from './order';

/** The accounts of lua/lib/ledger.lua, in micro-units. */

export interface CashAccount {
  readonly freeMicro: number;
  readonly reservedMicro: number;
  readonly nonce: number;
}

/** Tokens of one outcome. */
export interface TokenAccount {
  readonly freeMicro: number;
  readonly reservedMicro: number;
}

/** The account that collects fees; every other one is a wallet's 20 bytes. */
export const FEE_ACCOUNT = 'fee';
const ADDRESS_BYTES = 20;

export const decodeCash = (packed: Buffer): CashAccount => ({
  freeMicro: readUInt(packed, 0, 7),
  reservedMicro: readUInt(packed, 7, 7),
  nonce: packed.readUInt32BE(14),
});

/** Yes, then No. */
export const decodeTokens = (packed: Buffer): readonly [TokenAccount, TokenAccount] => [
  { freeMicro: readUInt(packed, 0, 7), reservedMicro: readUInt(packed, 7, 7) },
  { freeMicro: readUInt(packed, 14, 7), reservedMicro: readUInt(packed, 21, 7) },
];

/** An account's balances in a market that has ended, and its payout (lua/lib/resolution.lua). */
export interface Payout {
  readonly tokensMicro: readonly [yes: number, no: number];
  readonly cashMicro: number;
}

export const decodePayout = (packed: Buffer): Payout => ({
  tokensMicro: [readUInt(packed, 0, 7), readUInt(packed, 7, 7)],
  cashMicro: readUInt(packed, 14, 7),
});

/** `fee`, or a wallet in lower-case hex. */
export const accountName = (raw: Buffer): string =>
  raw.length === ADDRESS_BYTES ? `0x${raw.toString('hex')}` : raw.toString('latin1');
