import type { Activity, Position } from 'ctf-exchange-client';
import { microOf } from '../units';

/** The shares of one outcome of a market, and what they cost, in micro-units. */
interface Held {
  readonly size: bigint;
  readonly cost: bigint;
}

const NONE: Held = { size: 0n, cost: 0n };
const MICRO_ONE = 1_000_000n;
const micro = (amount: string): bigint => BigInt(microOf(amount));

/** The collateral of a line by outcome: that of a set is divided at its price of Yes, and No has the rest. */
function shared(
  collateral: bigint,
  [yes, no]: readonly [yes: bigint, no: bigint],
  yesPrice: string | null,
): readonly [yes: bigint, no: bigint] {
  if (no === 0n) return [collateral, 0n];
  if (yes === 0n) return [0n, collateral];
  const part = (collateral * micro(yesPrice ?? '0.5')) / MICRO_ONE;
  return [part, collateral - part];
}

/**
 * What each line gained, in micro-units, by average cost as the exchange counts it; null for a line that only adds shares or moves
 * cash. The lines are all of a wallet, oldest first.
 */
export function gainsOf(lines: readonly Activity[]): (bigint | null)[] {
  const positions = new Map<string, Held>();
  return lines.map(({ type, marketId, changes, yesPrice }) => {
    if (marketId === null) return null;
    const tokens = [micro(changes.yes), micro(changes.no)] as const;
    const collateral = micro(changes.collateral);
    // A fee can take all the shares that were bought.
    if (tokens[0] === 0n && tokens[1] === 0n) return type === 'TRADE' ? collateral : null;
    const parts = shared(collateral, tokens, yesPrice);
    let gain: bigint | null = null;
    for (const [i, moved] of tokens.entries()) {
      const name = `${marketId} ${i}`;
      const { size, cost } = positions.get(name) ?? NONE;
      const part = parts[i] ?? 0n;
      if (moved > 0n) positions.set(name, { size: size + moved, cost: cost - part });
      if (moved >= 0n) continue;
      // More shares than the lines have came by a transfer, and their proceeds are no gain.
      const known = -moved < size ? -moved : size;
      const removed = known === size ? cost : (cost * known) / size;
      gain = (gain ?? 0n) + (part * known) / -moved - removed;
      positions.set(name, { size: size - known, cost: cost - removed });
    }
    return gain;
  });
}

/** What a market gained: with the shares that left, and with those that are still there. */
export interface MarketGain {
  readonly marketId: string;
  readonly realized: number;
  /** Null while a held outcome has no price. */
  readonly unrealized: number | null;
}

/** The gain of each market, both outcomes together, in the order of the positions. */
export function gainsByMarket(positions: readonly Position[]): MarketGain[] {
  const gains = new Map<string, MarketGain>();
  for (const { marketId, size, realizedPnl, unrealizedPnl } of positions) {
    const before = gains.get(marketId) ?? { marketId, realized: 0, unrealized: 0 };
    const open = microOf(size) === 0 ? 0 : unrealizedPnl === null ? null : microOf(unrealizedPnl);
    gains.set(marketId, {
      marketId,
      realized: before.realized + microOf(realizedPnl),
      unrealized: open === null || before.unrealized === null ? null : before.unrealized + open,
    });
  }
  return [...gains.values()];
}
