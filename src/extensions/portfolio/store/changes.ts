import type { MarketId } from '../../../exchange/market';
import { addressBytes } from '../../../store/records/order';
import type { ScriptArgument } from '../../../store/redis/verbs';
import { type Change, changed } from '../position';
import { NO_POSITIONS, type Positions, packPositions } from './records';

export interface MarketChange {
  readonly wallet: string;
  readonly marketId: MarketId;
  readonly outcome: number;
  readonly change: Change;
  readonly atMs: number;
}

/** Changes by wallet and market, in their order, and the positions that result from them. */
export function createChanges() {
  const wallets = new Map<string, Map<MarketId, MarketChange[]>>();

  function add(one: MarketChange): void {
    const markets = wallets.get(one.wallet) ?? new Map<MarketId, MarketChange[]>();
    const list = markets.get(one.marketId) ?? [];
    list.push(one);
    wallets.set(one.wallet, markets.set(one.marketId, list));
  }

  /** Address, market and packed positions, one after another. */
  async function apply(
    before: (wallet: string, markets: readonly MarketId[]) => Promise<Positions[]>,
  ): Promise<ScriptArgument[]> {
    const parts = await Promise.all(
      [...wallets].map(async ([wallet, markets]) => {
        const found = await before(wallet, [...markets.keys()]);
        return [...markets].flatMap(([marketId, list], i): ScriptArgument[] => [
          addressBytes(wallet),
          marketId,
          packPositions(list.reduce(after, found[i] ?? NO_POSITIONS)),
        ]);
      }),
    );
    return parts.flat();
  }

  return { add, apply };
}

function after([yes, no]: Positions, { outcome, change, atMs }: MarketChange): Positions {
  return outcome === 0 ? [changed(yes, change, atMs), no] : [yes, changed(no, change, atMs)];
}
