import { Refusal } from '../../exchange/errors';
import type { MarketView } from '../../exchange/facts';
import type { MarketId, MarketTerms } from '../../exchange/market';
import { createRecent } from '../../exchange/recent';
import type { AnswerCache, Moment } from '../../store/reads/answer-cache';
import { type Context, noMarket } from '../context';
import { type Call, parameter } from '../endpoint';

/** The market that a path names, and the moment to which its answer belongs. */
export interface MarketMoment {
  readonly terms: MarketTerms;
  readonly moment: Moment;
}

export interface CachedAnswers extends Pick<AnswerCache, 'talk' | 'answer'> {
  /** Answers about the market that the path names; throws MARKET_NOT_FOUND. */
  momentOf(call: Call<undefined>): Promise<MarketMoment>;
  /** By id, slug or condition id; throws MARKET_NOT_FOUND, also for a draft. */
  publicMarketOf(name: string): Promise<MarketTerms>;
  /** By id, slug or condition id; throws MARKET_NOT_FOUND, also for a draft. */
  momentOfMarket(name: string): Promise<MarketMoment>;
  /** The moment of the order's market; null for an order that this process has not answered before. */
  orderMoment(orderHash: string): Promise<Moment | null>;
  rememberOrder(orderHash: string, marketId: MarketId): void;
  /** Returns the JSON of `present(read())`. `name` distinguishes the answers of a moment; `isFinal` as in the store's `Answer`. */
  json<T>(
    moment: Moment,
    name: string,
    read: () => Promise<T>,
    present: (value: T) => unknown,
    isFinal?: (value: T) => boolean,
  ): Promise<Buffer>;
  /** The facts of a market from which several answers are made. */
  view(market: MarketMoment): Promise<MarketView>;
}

/** The approximate memory of a level. */
const LEVEL_BYTES = 150;
const VIEW_BYTES = 2_000;
/** The number of orders whose market a process remembers. */
const ORDERS_MAX = 20_000;
/** The number of markets that a process remembers as no drafts. */
const PUBLIC_MARKETS_MAX = 20_000;

/** JSON that a process caches for as long as the moment is current in which it was made (src/store/reads/answer-cache.ts). */
export function createCachedAnswers({ reads, marketOf }: Pick<Context, 'reads' | 'marketOf'>): CachedAnswers {
  const { kept } = reads;
  /** An order never changes its market. */
  const homes = createRecent<MarketId>(ORDERS_MAX);

  /** Markets that were seen after their opening: none becomes a draft again. */
  const published = createRecent<true>(PUBLIC_MARKETS_MAX);

  async function publicMarketOf(name: string): Promise<MarketTerms> {
    const { terms } = await marketOf(name);
    if (!published.get(terms.id)) {
      const { state } = await reads.view(terms.id);
      if (state.status === 'DRAFT') throw noMarket(name);
      published.put(terms.id, true);
    }
    return terms;
  }

  async function momentOfMarket(name: string): Promise<MarketMoment> {
    const terms = await publicMarketOf(name);
    const moment = await kept.market(terms.id);
    if (!moment) throw new Refusal('MARKET_NOT_FOUND');
    return { terms, moment };
  }

  async function orderMoment(orderHash: string): Promise<Moment | null> {
    const home = homes.get(orderHash);
    return home === undefined ? null : kept.market(home);
  }

  const json = <T>(
    moment: Moment,
    name: string,
    read: () => Promise<T>,
    present: (value: T) => unknown,
    isFinal: (value: T) => boolean = () => true,
  ): Promise<Buffer> =>
    kept.answer(moment, name, async () => {
      const value = await read();
      const text = Buffer.from(JSON.stringify(present(value)));
      return { value: text, bytes: text.length, isFinal: isFinal(value) };
    });

  const view = ({ terms, moment }: MarketMoment): Promise<MarketView> =>
    kept.answer(moment, 'view', async () => {
      const value = await reads.view(terms.id);
      const levels = value.state.bids.length + value.state.asks.length;
      return { value, bytes: VIEW_BYTES + levels * LEVEL_BYTES };
    });

  return {
    momentOf: (call) => momentOfMarket(parameter(call, 'id')),
    publicMarketOf,
    momentOfMarket,
    orderMoment,
    rememberOrder: homes.put,
    talk: kept.talk,
    json,
    view,
    answer: kept.answer,
  };
}
