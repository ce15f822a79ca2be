import type { MarketId } from '../../exchange/market';
import { WORTH_PER_ONE } from '../../wire/prices';

/** The amounts that moved in a wallet at one moment; negative amounts left it. */
export interface WalletChange {
  readonly atMs: number;
  readonly marketId: MarketId;
  readonly collateralMicro: bigint;
  readonly yesMicro: bigint;
  readonly noMicro: bigint;
  /** Whether the amount came from outside, which is no gain. */
  readonly isDeposit: boolean;
}

/** Tokens of one market. */
export interface Tokens {
  readonly yesMicro: bigint;
  readonly noMicro: bigint;
}

export interface Holdings {
  readonly collateralMicro: bigint;
  readonly tokens: ReadonlyMap<MarketId, Tokens>;
}

/** The price of Yes in a market at a moment, in tenths of a pip; null before its first trade. */
export type WorthAt = (id: MarketId, atMs: number) => number | null;

const NONE: Tokens = { yesMicro: 0n, noMicro: 0n };
/** A token without a price counts as half a set. */
const UNKNOWN_WORTH = WORTH_PER_ONE / 2;

export function worthOfTokens({ yesMicro, noMicro }: Tokens, worth: number | null): bigint {
  const yes = BigInt(worth ?? UNKNOWN_WORTH);
  return (yesMicro * yes + noMicro * (BigInt(WORTH_PER_ONE) - yes)) / BigInt(WORTH_PER_ONE);
}

/**
 * Returns the value of a wallet at each of the `moments` (rising). It starts from the present holdings and takes back the
 * changes after each moment, newest first.
 */
export function valuesAt(
  now: Holdings,
  changes: readonly WalletChange[],
  moments: readonly number[],
  worthAt: WorthAt,
): bigint[] {
  let collateral = now.collateralMicro;
  const tokens = new Map(now.tokens);
  const values: bigint[] = [];
  let next = 0;
  for (const atMs of [...moments].reverse()) {
    for (let change = changes[next]; change && change.atMs > atMs; change = changes[++next]) {
      const { marketId, collateralMicro, yesMicro, noMicro } = change;
      const held = tokens.get(marketId) ?? NONE;
      collateral -= collateralMicro;
      tokens.set(marketId, { yesMicro: held.yesMicro - yesMicro, noMicro: held.noMicro - noMicro });
    }
    let value = collateral;
    for (const [id, held] of tokens) {
      if (held.yesMicro !== 0n || held.noMicro !== 0n) value += worthOfTokens(held, worthAt(id, atMs));
    }
    values.push(value);
  }
  return values.reverse();
}

/**
 * The change of a wallet's value from a moment on, without what came from outside: `tokensMicro` is the present value of its
 * tokens, `now` what it holds, and `changes` are complete from that moment on.
 */
export function gainSince(
  tokensMicro: bigint,
  now: Holdings,
  changes: readonly WalletChange[],
  sinceMs: number,
  worthAt: WorthAt,
): bigint {
  const [opening = 0n] = valuesAt(now, changes, [sinceMs - 1], worthAt);
  const deposits = changes.filter(({ isDeposit, atMs }) => isDeposit && atMs >= sinceMs);
  const paidIn = deposits.reduce((sum, change) => sum + change.collateralMicro, 0n);
  return now.collateralMicro + tokensMicro - opening - paidIn;
}
