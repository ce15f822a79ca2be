import type { Level } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import type { Logger } from '../../log';
import type { CountedState, History } from '../../store/candles/history';
import type { Reads } from '../../store/reads/reads';
import { presentTicker } from '../../wire/answers/market';
import type { FeedMessage } from '../messages';
import type { FollowedMarket } from './followed-market';

/** The interval between two tickers of one market. */
const EVERY_MS = 250;

export interface TickersDeps {
  readonly history: Pick<History, 'day'>;
  readonly reads: Pick<Reads, 'market' | 'clock'>;
  readonly log: Logger;
  readonly emit: (messages: readonly FeedMessage[]) => void;
}

/** The content of a ticker at one update. */
interface Face {
  readonly sequence: number;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly counted: CountedState;
  /** The same as text, for comparison. */
  readonly text: string;
}

/** Sends tickers of markets whose best prices or last price changed, from the books of the broadcaster. */
export function createTickers({ history, reads, log, emit }: TickersDeps) {
  /** The content of a market's latest ticker. */
  const shown = new WeakMap<FollowedMarket, string>();
  const changed = new Map<FollowedMarket, Face>();
  let timer: NodeJS.Timeout | undefined;

  /** Called after an update was sent, before the market changes again. */
  function moved(market: FollowedMarket): void {
    const face = faceOf(market);
    if (shown.get(market) === face.text && !changed.has(market)) return;
    changed.set(market, face);
    timer ??= setTimeout(() => {
      timer = undefined;
      void tellAll().catch((error: unknown) => log.warn({ err: String(error) }, 'no ticker'));
    }, EVERY_MS);
  }

  async function tellAll(): Promise<void> {
    const due = [...changed];
    changed.clear();
    for (const [market, face] of due) shown.set(market, face.text);
    emit(await Promise.all(due.map(([{ id }, face]) => tickerOf(id, face))));
  }

  async function tickerOf(id: MarketId, { sequence, bids, asks, counted }: Face): Promise<FeedMessage> {
    const nowMs = Math.trunc(reads.clock());
    const [market, day] = await Promise.all([reads.market(id), history.day(id, counted, nowMs)]);
    if (!market) throw new Error(`no market ${id}`);
    const state = { sequence, lastPips: counted.lastPips, bids, asks };
    return { kind: 'ticker', marketId: id, ticker: presentTicker({ ...market, day, nowMs, state }) };
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

function faceOf({ book, counted, sequence }: FollowedMarket): Face {
  const [bids, asks] = [book.bids.slice(0, 1), book.asks.slice(0, 1)];
  const best = [...bids, null, ...asks].map((level) => level && [level.pricePips, level.sizeLots]);
  return { sequence, bids, asks, counted, text: JSON.stringify([best, counted.volumeMicro]) };
}
