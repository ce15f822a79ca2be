import type { Candle, IsoTime, Market, OutcomeIndex } from './types';

/** Markets of one event, oldest first. */
export interface MarketEvent {
  readonly slug: string;
  readonly title: string;
  readonly markets: readonly Market[];
}

/** The version of the answering process. */
export interface ProgramVersion {
  readonly version: string;
  /** Null for a build outside of a checkout. */
  readonly commit: string | null;
  /** The layout of the data that it writes. */
  readonly layout: number;
  /** `replicated`, `always`, `everysec`, `none` or `unknown`: the acknowledged writes that survive a crash of Redis. */
  readonly durability: string;
  readonly startedAt: IsoTime;
}

export type CandleInterval = '1m' | '5m' | '15m' | '1h' | '4h' | '1d';

export interface CandlesQuery {
  /** `1m` by default. */
  readonly interval?: CandleInterval | undefined;
  /** Epoch seconds; candles that begin then or later, the first `limit` of them. */
  readonly from?: number | undefined;
  /** Epoch seconds; candles that begin then or before. */
  readonly to?: number | undefined;
  readonly outcomeIndex?: OutcomeIndex | undefined;
  /** At most 1,000. */
  readonly limit?: number | undefined;
}

/** `v` is shares, `n` trades. */
export interface TradedCandle extends Candle {
  readonly n: number;
}

/** Oldest first. */
export interface Candles {
  readonly marketId: string;
  readonly interval: CandleInterval;
  readonly outcomeIndex: OutcomeIndex;
  readonly candles: readonly TradedCandle[];
}
