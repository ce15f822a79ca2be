import { createStore } from './app/store';
import type { Config } from './config/load';
import { demoMarkets } from './demo/markets';
import { inventDay } from './demo/past';
import { parsePips } from './exchange/units';
import type { Logger } from './log';
import { createCandleWriter } from './store/candles/writer';
import { disconnect } from './store/redis/connection';

/**
 * Gives the demo markets a day of invented prices, so that their charts do not begin empty. A market in which anything
 * was ever traded keeps the history it has.
 */
export async function inventHistory(config: Config, log: Logger): Promise<void> {
  const store = await createStore(config, log);
  try {
    await store.clock.measure();
    const nowMs = store.clock.now();
    const candles = createCandleWriter(store);
    for (const { body, character } of demoMarkets(new Date(nowMs))) {
      const market = await store.reads.market(body.slug);
      if (!market) continue;
      const day = inventDay(character, parsePips(body.tickSize), nowMs, Math.random);
      const written = await candles.preload(market.terms.id, day);
      log.info({ market: market.terms.id, written }, 'demo history');
    }
  } finally {
    disconnect(store.redis);
  }
}
