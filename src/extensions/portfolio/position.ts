import type { Ending } from '../../exchange/market';
import { WORTH_PER_ONE } from '../../wire/prices';

/**
 * A wallet's position in one outcome by average cost: selling reduces the cost basis pro rata, rounded down, and
 * closing the position clears the remainder. So at any moment, exactly, `realized - cost = everything received -
 * everything paid`.
 */
export interface Position {
  readonly sizeMicro: bigint;
  readonly costMicro: bigint;
  readonly realizedMicro: bigint;
  /** Time of the first tokens; 0 when the wallet never had any. */
  readonly openedAtMs: number;
}

export const NO_POSITION: Position = { sizeMicro: 0n, costMicro: 0n, realizedMicro: 0n, openedAtMs: 0 };

/**
 * The effect of one event on a wallet: tokens of one outcome that it received or, when negative, gave, and the collateral
 * that it paid or received for them.
 */
export interface Change {
  readonly tokensMicro: bigint;
  readonly collateralMicro: bigint;
}

export function changed(
  position: Position,
  { tokensMicro, collateralMicro }: Change,
  atMs: number,
): Position {
  if (tokensMicro === 0n && collateralMicro === 0n) return position;
  const openedAtMs = position.openedAtMs || atMs;
  // A fee may take all the tokens that were bought.
  if (tokensMicro === 0n)
    return { ...position, realizedMicro: position.realizedMicro + collateralMicro, openedAtMs };
  if (tokensMicro > 0n) {
    const costMicro = position.costMicro - collateralMicro;
    return { ...position, sizeMicro: position.sizeMicro + tokensMicro, costMicro, openedAtMs };
  }
  const given = -tokensMicro;
  const isAll = given >= position.sizeMicro;
  // More tokens than the record has leave the wallet when earlier events were not recorded; the excess is not counted.
  const known = isAll ? position.sizeMicro : given;
  const proceeds = (collateralMicro * known) / given;
  const cost = isAll ? position.costMicro : (position.costMicro * known) / position.sizeMicro;
  return {
    sizeMicro: position.sizeMicro - known,
    costMicro: position.costMicro - cost,
    realizedMicro: position.realizedMicro + proceeds - cost,
    openedAtMs,
  };
}

/**
 * A split or, below zero, a merge divides its collateral at the price of Yes in its moment (`worth`, in tenths of a pip), or in halves
 * without one. What cannot be divided belongs to No, so that both together cost exactly the sets.
 */
export function setChanges(
  setsMicro: bigint,
  worth: number = WORTH_PER_ONE / 2,
): readonly [yes: Change, no: Change] {
  const yes = (setsMicro * BigInt(worth)) / BigInt(WORTH_PER_ONE);
  return [
    { tokensMicro: setsMicro, collateralMicro: -yes },
    { tokensMicro: setsMicro, collateralMicro: -(setsMicro - yes) },
  ];
}

/** The payout of tokens of a market that has ended, `paidMicro` in all. */
export function payoutChanges(
  resolution: Pick<Ending, 'outcome'>,
  [yes, no]: readonly [yes: bigint, no: bigint],
  paidMicro: bigint,
): readonly [yes: Change, no: Change] {
  const halfOfYes = yes / 2n;
  const forYes = resolution.outcome === null ? halfOfYes : resolution.outcome === 0 ? paidMicro : 0n;
  return [
    { tokensMicro: -yes, collateralMicro: forYes },
    { tokensMicro: -no, collateralMicro: paidMicro - forYes },
  ];
}

/** Tokens that a wallet redeemed on the chain, whose result the exchange may not have yet: the amounts say what each was worth. */
export function redeemedChanges(
  [yes, no]: readonly [yes: bigint, no: bigint],
  paidMicro: bigint,
): readonly [yes: Change, no: Change] {
  const outcome = paidMicro === yes ? 0 : paidMicro === no ? 1 : null;
  return payoutChanges({ outcome }, [yes, no], paidMicro);
}

/** The reverse of a trade that failed: a sale gives the tokens back for its proceeds, a purchase the reverse. */
export function failedChanges(
  isSale: boolean,
  [yes, no]: readonly [yes: bigint, no: bigint],
  collateralMicro: bigint,
): readonly [yes: Change, no: Change] {
  const sign = isSale ? 1n : -1n;
  const [forYes, forNo] = no > 0n ? [0n, collateralMicro] : [collateralMicro, 0n];
  return [
    { tokensMicro: sign * yes, collateralMicro: -sign * forYes },
    { tokensMicro: sign * no, collateralMicro: -sign * forNo },
  ];
}
