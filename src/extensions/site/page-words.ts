import type { MarketView } from '../../exchange/facts';
import { indexOf } from '../../http/markets/market-pages';
import { formatChance } from '../../wire/prices';

/** The words of the page's addresses, for people who share them. */
export interface Words {
  readonly title: string;
  readonly description: string;
  readonly path: string;
  /** Path of the share card. */
  readonly cardPath: string;
  /** The market of the address, which the page shows before its scripts have come. */
  readonly market?: MarketView;
}

const TEXT_MAX = 200;
/** Half of a character of two code units. */
const HALF_AT_END = /[\ud800-\udbff]$/;

export const marketNamed = (markets: readonly MarketView[], name: string): MarketView | undefined =>
  indexOf(markets).byName.get(name);

/** "Resolved: Yes"; null while the market goes on. */
export function resultWord({ terms: { outcomeNames }, state: { resolution } }: MarketView): string | null {
  if (!resolution) return null;
  return `Resolved: ${resolution.outcome === null ? 'void' : outcomeNames[resolution.outcome]}`;
}

export function marketWords(markets: readonly MarketView[], name: string): Words | null {
  const market = marketNamed(markets, name);
  if (!market) return null;
  const path = `/m/${market.terms.slug}`;
  return {
    title: market.texts.question,
    description: standingOf(market),
    path,
    cardPath: `${path}/card.png`,
    market,
  };
}

function standingOf(market: MarketView): string {
  const { terms, texts, state } = market;
  const said = texts.description.replace(/\s+/g, ' ').slice(0, TEXT_MAX).replace(HALF_AT_END, '');
  const result = resultWord(market);
  if (result !== null) return `${result}. ${said}`;
  const chance = formatChance(state, terms.tickPips);
  return chance === null ? said : `${terms.outcomeNames[0]} ${chance}. ${said}`;
}

export function eventWords(markets: readonly MarketView[], slug: string): Words | null {
  const [found] = indexOf(markets).byEvent.get(slug) ?? [];
  const event = found?.terms.event;
  if (!event) return null;
  return {
    title: event.title,
    description: `The markets of ${event.title}.`,
    path: `/e/${event.slug}`,
    cardPath: `/m/${found.terms.slug}/card.png`,
  };
}
