import { inventDay } from '../demo/invented-history';
import { demoMarkets } from '../demo/markets';
import { parsePips } from '../exchange/units';
import { createCandleWriter } from '../store/candles/writer';
import { partAt } from '../store/lists/list';
import { recorded } from './action';
import { type Command, EXIT } from './store';

/** Counts the candles of every market again from its matches, while the exchange runs. */
export const rebuildHistory: Command = async ({ store, say, line, isJson }) => {
  const doing = { action: 'history rebuild', path: 'exchange history rebuild' };
  const markets = await recorded(store, doing, async () => {
    const rebuilt: { market: string; matches: number | null }[] = [];
    for (const candles of store.partitions.map((partition) =>
      createCandleWriter({ ...store, ...partition }),
    )) {
      for (const market of await candles.markets()) {
        const matches = await candles.rebuild(market);
        const text =
          matches === null
            ? 'as it was, because the archive has dropped matches of it'
            : `${matches} matches counted`;
        if (!isJson) await line(`${market}: ${text}`);
        rebuilt.push({ market, matches });
      }
    }
    return rebuilt;
  });
  await say({ markets }, [`${markets.length} markets`]);
  return EXIT.done;
};

/**
 * Gives the demo markets a day of invented prices, so that their charts do not begin empty. It skips markets with trades.
 * `npm start` runs it; the help does not list it.
 */
export const inventHistory: Command = async ({ store, say }) => {
  const nowMs = store.clock.now();
  const invented: string[] = [];
  for (const { body, character } of demoMarkets(new Date(nowMs))) {
    const market = await store.reads.market(body.slug);
    if (!market) continue;
    const partition = partAt(store.partitions, await store.placement.partitionOf(market.terms.id));
    const candles = createCandleWriter({ ...store, ...partition });
    const day = inventDay(character, parsePips(body.tickSize), nowMs, Math.random);
    if (await candles.preload(market.terms.id, day)) invented.push(market.terms.id);
  }
  await say({ invented }, [`${invented.length} markets have a day of invented prices`]);
  return EXIT.done;
};
