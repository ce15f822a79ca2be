import { CASH, PAYOUT, TOKENS } from './layout';

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

/** The account that collects fees; every other account is the 20 bytes of a wallet. */
export const FEE_ACCOUNT = 'fee';
const ADDRESS_BYTES = 20;

export function decodeCash(packed: Buffer): CashAccount {
  const { freeMicro, reservedMicro, nonce } = CASH.get;
  return { freeMicro: freeMicro(packed), reservedMicro: reservedMicro(packed), nonce: nonce(packed) };
}

/** Yes, then No. */
export function decodeTokens(packed: Buffer): readonly [TokenAccount, TokenAccount] {
  const { yesFree, yesReserved, noFree, noReserved } = TOKENS.get;
  return [
    { freeMicro: yesFree(packed), reservedMicro: yesReserved(packed) },
    { freeMicro: noFree(packed), reservedMicro: noReserved(packed) },
  ];
}

export interface Payout {
  readonly tokensMicro: readonly [yes: number, no: number];
  readonly cashMicro: number;
}

export function decodePayout(packed: Buffer): Payout {
  const { yesMicro, noMicro, cashMicro } = PAYOUT.read(packed);
  return { tokensMicro: [yesMicro, noMicro], cashMicro };
}

/** `fee`, or a wallet in lower-case hex. */
export const accountName = (raw: Buffer): string =>
  raw.length === ADDRESS_BYTES ? `0x${raw.toString('hex')}` : raw.toString('latin1');
