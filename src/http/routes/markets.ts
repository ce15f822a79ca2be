import { Refusal } from '../../exchange/errors';
import { MARKET_STATUSES } from '../../exchange/market';
import { presentEvent, presentMarket } from '../../wire/answers/market';
import { WALK_MAX } from '../../wire/cursor';
import { MARKET_SORTS, PAGE_SIZES } from '../../wire/pages';
import { PATHS } from '../../wire/paths';
import { choiceOf, cursorOf, limitOf, textOf } from '../../wire/queries';
import type { Context } from '../context';
import { type AnyEndpoint, okJson, parameter, read } from '../endpoint';
import type { CachedAnswers } from '../markets/cached-answers';
import { categoriesOf, createPageTexts, indexOf, isListed, pageOf } from '../markets/market-pages';

const LISTED_STATUSES = MARKET_STATUSES.filter((status) => status !== 'DRAFT');

/** Finding markets: the list of markets, their categories, one market. */
export function marketEndpoints({ marketList, durability }: Context, cached: CachedAnswers): AnyEndpoint[] {
  const textOfPage = createPageTexts();
  return [
    read(PATHS.market, async (call) => {
      const at = await cached.momentOf(call);
      return okJson(await cached.json(at.moment, 'market', () => cached.view(at), presentMarket));
    }),
    read(PATHS.markets, async ({ request, query }) => {
      const filter = {
        status: choiceOf(query, 'status', LISTED_STATUSES),
        category: textOf(query, 'category'),
        tag: textOf(query, 'tag'),
        words: textOf(query, 'q'),
      };
      const sort = choiceOf(query, 'sort', MARKET_SORTS) ?? 'volume24h';
      const page = {
        epoch: durability.current()?.epoch ?? '',
        sort,
        limit: limitOf(query, PAGE_SIZES.markets),
        cursor: cursorOf(query, WALK_MAX),
      };
      const all = await marketList();
      const present = () => {
        const { markets, next } = pageOf(all, filter, page);
        return { data: markets.map(presentMarket), nextCursor: next };
      };
      return okJson(textOfPage(all, request.url, present));
    }),
    read(PATHS.event, async (call) => {
      const slug = parameter(call, 'slug');
      const all = await marketList();
      const markets = indexOf(all).byEvent.get(slug) ?? [];
      const event = markets[0]?.terms.event;
      if (!event) throw new Refusal('EVENT_NOT_FOUND');
      return okJson(textOfPage(all, `${PATHS.event} ${slug}`, () => presentEvent(event, markets)));
    }),
    read(PATHS.categories, async () => {
      const all = await marketList();
      return okJson(textOfPage(all, PATHS.categories, () => ({ data: categoriesOf(all.filter(isListed)) })));
    }),
  ];
}
