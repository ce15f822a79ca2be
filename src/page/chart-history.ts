import type { Market, PriceHistory, Timeframe } from 'ctf-exchange-client';
import { useEffect, useState } from 'preact/hooks';
import type { Point } from './chart-canvas';
import { client } from './exchange';
import { nowMs, pipsOf } from './units';

/** The interval of reloads: buckets without trades repeat the last price, and only the history has them. */
const REFRESH_MS = 60_000;
/** The pauses between attempts after a failure, which grow. */
const RETRY_MS = [2_000, 5_000, 15_000] as const;
const RETRY_MS_LAST = 30_000;
/** With fewer points a long time range is not useful. */
const POINTS_MIN = 60;
const LENGTHS_SEC: readonly (readonly [Timeframe, number])[] = [
  ['1h', 3_600],
  ['6h', 21_600],
  ['1d', 86_400],
  ['1w', 604_800],
  ['1m', 2_592_000],
];

/** The history of a young market in steps that fit its age. */
async function load(marketId: string, timeframe: Timeframe): Promise<PriceHistory> {
  const history = await client.priceHistory(marketId, timeframe);
  const first = history.history[0];
  if (timeframe !== 'all' || !first || history.history.length >= POINTS_MIN) return history;
  const ageSec = nowMs() / 1_000 - first.t;
  const fit = LENGTHS_SEC.find(([, lengthSec]) => lengthSec >= ageSec)?.[0];
  return fit === undefined ? history : client.priceHistory(marketId, fit);
}

interface Loaded {
  readonly key: string;
  readonly history: PriceHistory | 'failed';
}

export function useHistory(marketId: string, timeframe: Timeframe): PriceHistory | 'loading' | 'failed' {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const key = `${marketId} ${timeframe}`;
  useEffect(() => {
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout>;
    let failures = 0;
    const ask = (): void => {
      load(marketId, timeframe).then(
        (history) => {
          if (!isCurrent) return;
          failures = 0;
          setLoaded({ key, history });
          timer = setTimeout(refresh, REFRESH_MS);
        },
        () => {
          if (!isCurrent) return;
          setLoaded((now) =>
            now?.key === key && now.history !== 'failed' ? now : { key, history: 'failed' },
          );
          timer = setTimeout(ask, RETRY_MS[failures] ?? RETRY_MS_LAST);
          failures += 1;
        },
      );
    };
    const refresh = (): void => {
      if (document.visibilityState === 'visible') ask();
      else timer = setTimeout(refresh, REFRESH_MS);
    };
    ask();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [marketId, timeframe, key]);
  return loaded?.key === key ? loaded.history : 'loading';
}

export const pointsOf = ({ outcomes }: PriceHistory, index: 0 | 1): Point[] =>
  (outcomes[index]?.history ?? []).map(({ t, p }) => ({ t, pips: pipsOf(p) }));

/** The last point of an ended market: the payout of a share. */
export function endOf({ resolution }: Market, index: 0 | 1): Point | null {
  if (!resolution) return null;
  const t = Math.floor(Date.parse(resolution.resolvedAt) / 1_000);
  return { t, pips: pipsOf(resolution.payouts[index] ?? '0.5') };
}
