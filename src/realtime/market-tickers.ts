import type { Logger } from '../log';
import type { History } from '../store/history';
import type { Reads } from '../store/reads';
import { presentTicker } from '../wire/present-market';
import type { FollowedMarket } from './followed-market';
import type { FeedMessage } from './messages';

/** At most one ticker for each market in this time. */
const EVERY_MS = 250;

export interface TickersDeps {
  readonly history: Pick<History, 'day'>;
  readonly reads: Pick<Reads, 'market' | 'clock'>;
  readonly log: Logger;
  readonly tell: (messages: readonly FeedMessage[]) => void;
}

/** Tells tickers of the markets whose best prices or last price have changed, from the books of the broadcaster. */
export function createTickers({ history, reads, log, tell }: TickersDeps) {
  /** What the latest ticker of a market showed. */
  const shown = new WeakMap<FollowedMarket, string>();
  const changed = new Set<FollowedMarket>();
  let timer: NodeJS.Timeout | undefined;

  function moved(market: FollowedMarket): void {
    if (shown.get(market) === faceOf(market)) return;
    changed.add(market);
    timer ??= setTimeout(() => {
      timer = undefined;
      void tellAll().catch((error: unknown) => log.warn({ err: String(error) }, 'no ticker'));
    }, EVERY_MS);
  }

  async function tellAll(): Promise<void> {
    const due = [...changed];
    changed.clear();
    tell(await Promise.all(due.map(tickerOf)));
  }

  async function tickerOf(followed: FollowedMarket): Promise<FeedMessage> {
    const { id, book, sequence, counted } = followed;
    const nowMs = Math.trunc(reads.clock());
    shown.set(followed, faceOf(followed));
    const { bids, asks } = { bids: book.bids.slice(0, 1), asks: book.asks.slice(0, 1) };
    const [market, day] = await Promise.all([reads.market(id), history.day(id, counted, nowMs)]);
    if (!market) throw new Error(`no market ${id}`);
    const facts = { ...market, day, nowMs, state: { sequence, lastPips: counted.lastPips, bids, asks } };
    return { kind: 'ticker', marketId: id, ticker: presentTicker(facts) };
  }

  return {
    moved,
    stop: () => {
      clearTimeout(timer);
      timer = undefined;
      changed.clear();
    },
  };
}

function faceOf({ book, counted }: FollowedMarket): string {
  const [bid, ask] = [book.bids[0], book.asks[0]];
  return [bid?.pricePips, bid?.sizeLots, ask?.pricePips, ask?.sizeLots, counted.volumeMicro].join();
}
