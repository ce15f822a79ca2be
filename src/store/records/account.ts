import { CASH, CHAIN_CASH, CHAIN_TOKENS, PAYOUT, TOKENS } from './layout';

/** The accounts of lua/lib/ledger.lua, in micro-units. */

export interface CashAccount {
  readonly freeMicro: number;
  readonly reservedMicro: number;
  readonly nonce: number;
  /** Only of funds on a chain. */
  readonly onChain?: UnsettledAmounts & { readonly unsettledMicro: number; readonly restingMicro: number };
}

/** The amounts that matches which are not final took of an asset, and that they bring of it. */
interface UnsettledAmounts {
  readonly outMicro: number;
  readonly pendingMicro: number;
}

/** Tokens of one outcome. */
export interface TokenAccount {
  readonly freeMicro: number;
  readonly reservedMicro: number;
  /** Only of funds on a chain. */
  readonly onChain?: UnsettledAmounts;
}

/** The account that collects fees; every other account is the 20 bytes of a wallet. */
export const FEE_ACCOUNT = 'fee';
const ADDRESS_BYTES = 20;
const NET_MARK = 'n';

/** Among the accounts of a shard, the field of what a wallet sent and got there (src/extensions/shards/lua/lib/channel.lua); exists with several shards. */
export const netField = (wallet: Buffer): Buffer => Buffer.concat([wallet, Buffer.from(NET_MARK)]);
export const isNetField = (field: Buffer): boolean => field.length > ADDRESS_BYTES;
/** The pattern of these fields alone, for HSCAN. */
export const NET_FIELDS = `${'?'.repeat(ADDRESS_BYTES)}${NET_MARK}`;

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

/** The exchange's part of an account of funds on a chain. The chain has the balance, so nothing of it is free here. */
export function decodeChainCash(packed: Buffer): CashAccount {
  const { reservedMicro, nonce, outMicro, pendingMicro, unsettledMicro, restingMicro } =
    CHAIN_CASH.read(packed);
  return {
    freeMicro: 0,
    reservedMicro,
    nonce,
    onChain: { outMicro, pendingMicro, unsettledMicro, restingMicro },
  };
}

/** Yes, then No. */
export function decodeChainTokens(packed: Buffer): readonly [TokenAccount, TokenAccount] {
  const read = CHAIN_TOKENS.read(packed);
  const account = (reservedMicro: number, outMicro: number, pendingMicro: number): TokenAccount => ({
    freeMicro: 0,
    reservedMicro,
    onChain: { outMicro, pendingMicro },
  });
  return [
    account(read.yesReserved, read.yesOut, read.yesPending),
    account(read.noReserved, read.noOut, read.noPending),
  ];
}

/** The tokens of a stored account, Yes and No, wherever the funds are. */
export function heldTokens(packed: Buffer): readonly [number, number] {
  if (packed.length === CHAIN_TOKENS.bytes) {
    const { yesHeld, noHeld } = CHAIN_TOKENS.get;
    return [yesHeld(packed), noHeld(packed)];
  }
  const [yes, no] = decodeTokens(packed);
  return [yes.freeMicro + yes.reservedMicro, no.freeMicro + no.reservedMicro];
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
