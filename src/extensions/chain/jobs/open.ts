import type { MarketView } from '../../../exchange/facts';
import { runEach, runEachMarket } from '../../../jobs/run-each';
import type { Markets } from '../../../store/markets/markets';
import type { ChainMarket, Conditions } from '../contracts/conditions';
import type { KeySender, Sending } from '../contracts/key-sender';
import type { ChainRequests } from '../store/requests';

/** The parts that the work on markets of a chain shares. */
export interface OnChainParts {
  readonly requests: ChainRequests;
  readonly conditions: Conditions;
  /** The latest block that stays, as a parameter of a call. */
  readonly finalBlock: () => Promise<string>;
  readonly view: (id: string) => Promise<MarketView>;
  /** The store's own, which open and resolve at once. */
  readonly markets: Markets;
  /** Null where the oracle's key is elsewhere. */
  readonly oracle: KeySender | null;
}

/** The most markets that one round opens; the next one continues. */
const MARKETS_MAX = 50;

/**
 * Opens markets whose tokens are registered in a final block: before that, a match could not be settled. With a key it prepares
 * the condition and registers the tokens itself; without one it waits until the owner of a key has.
 */
export function createOpenOnChain(parts: OnChainParts) {
  const { requests, conditions, finalBlock, view, markets, oracle } = parts;

  async function open(id: string, block: string): Promise<ChainMarket | null> {
    const { state, terms } = await view(id);
    // One that is open may be here because the block of its registration was replaced.
    if (!(await conditions.registration(terms, block)).isRegistered) return terms;
    if (state.status === 'DRAFT') await markets.open(id);
    await requests.opened(id);
    return null;
  }

  return async (): Promise<void> => {
    const waiting = (await requests.opening()).slice(0, MARKETS_MAX);
    if (waiting.length === 0) return;
    const block = await finalBlock();
    const unknown: ChainMarket[] = [];
    await runEachMarket(waiting, async (id) => {
      const terms = await open(id, block);
      if (terms) unknown.push(terms);
    });
    if (oracle) await sendEach(oracle, unknown, (market) => missing(conditions, market));
  };
}

/** The transaction that a market lacks next; null when it only waits for the final block. */
async function missing(conditions: Conditions, market: ChainMarket): Promise<Sending | null> {
  const { isPrepared, isRegistered } = await conditions.registration(market, 'latest');
  if (!isPrepared) return conditions.prepare(market);
  return isRegistered ? null : conditions.register(market);
}

/** Sends what is due for each market. One whose transaction the chain would refuse costs nothing and holds up no other. */
export async function sendEach<Market extends { readonly conditionId: string }>(
  oracle: KeySender,
  markets: readonly Market[],
  due: (market: Market) => Promise<Sending | null>,
): Promise<void> {
  const sendings: Sending[] = [];
  const preparing = runEach(
    markets,
    ({ conditionId }) => `condition ${conditionId}`,
    async (market) => {
      const one = await due(market);
      if (one) sendings.push(await oracle.ready(one));
    },
  );
  await preparing.finally(() => oracle.send(sendings));
}
