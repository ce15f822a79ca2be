import type { ChainMarket, Conditions } from '../../chain/conditions';
import type { KeySender } from '../../chain/key-sender';
import type { MarketView } from '../../exchange/facts';
import type { ChainRequests } from '../../store/chain/requests';
import type { Markets } from '../../store/markets/markets';
import { forEachMarket } from '../each';
import type { Chore } from '../schedule';

/** The parts that the chores of markets on a chain share. */
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

const OPEN_EVERY_MS = 500;
/** The most markets that one round opens; the next one continues. */
const MARKETS_MAX = 50;

/**
 * Opens markets whose tokens are registered in a final block: before that, a match could not be settled. With a key it prepares
 * the condition and registers the tokens itself; without one it waits until the owner of a key has.
 */
export function createOpenOnChain(parts: OnChainParts): Chore {
  const { requests, conditions, finalBlock, view, markets, oracle } = parts;

  async function open(id: string, block: string): Promise<ChainMarket | null> {
    const { state, terms } = await view(id);
    if (state.status === 'DRAFT') {
      if (!(await conditions.registration(terms, block)).isRegistered) return terms;
      await markets.open(id);
    }
    await requests.opened(id);
    return null;
  }

  return {
    name: 'open-on-chain',
    everyMs: OPEN_EVERY_MS,
    async run() {
      const waiting = (await requests.opening()).slice(0, MARKETS_MAX);
      if (waiting.length === 0) return;
      const block = await finalBlock();
      const unknown: ChainMarket[] = [];
      await forEachMarket(waiting, async (id) => {
        const terms = await open(id, block);
        if (terms) unknown.push(terms);
      });
      await oracle?.send(await missing(conditions, unknown));
    },
  };
}

/** The transactions that these markets lack, first those on which others depend. */
async function missing(conditions: Conditions, markets: readonly ChainMarket[]) {
  const states = await Promise.all(
    markets.map(async (market) => ({ market, ...(await conditions.registration(market, 'latest')) })),
  );
  return [
    ...states.filter(({ isPrepared }) => !isPrepared).map(({ market }) => conditions.prepare(market)),
    ...states.filter(({ isRegistered }) => !isRegistered).map(({ market }) => conditions.register(market)),
  ];
}
