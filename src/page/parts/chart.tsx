import type { Market, PriceHistory, Timeframe } from 'ctf-exchange-client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useCell } from '../cell';
import type { Drawing, Point } from '../chart-canvas';
import { client } from '../exchange';
import type { Shown } from '../market-data';
import { theme } from '../theme';
import { outcome } from '../ticket-state';
import { PIPS_ONE, percent, pipsOf } from '../units';
import { Notice } from './notice';

const TIMEFRAMES: readonly (readonly [Timeframe, string])[] = [
  ['1h', 'hour'],
  ['6h', '6 hours'],
  ['1d', 'day'],
  ['1w', 'week'],
  ['1m', 'month'],
  ['all', 'whole time'],
];
/** Buckets without trades go on with the last price; the history tells them. */
const REFRESH_MS = 60_000;
const CHART_WAITS_MS = 150;

interface Loaded {
  readonly marketId: string;
  readonly timeframe: Timeframe;
  readonly history: PriceHistory;
}

function useHistory(marketId: string, timeframe: Timeframe): PriceHistory | 'loading' | 'failed' {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [failed, setFailed] = useState('');
  const key = `${marketId} ${timeframe}`;
  useEffect(() => {
    let isCurrent = true;
    const ask = (): void => {
      client.priceHistory(marketId, timeframe).then(
        (history) => isCurrent && setLoaded({ marketId, timeframe, history }),
        () => isCurrent && setFailed(key),
      );
    };
    ask();
    const timer = setInterval(() => document.visibilityState === 'visible' && ask(), REFRESH_MS);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [marketId, timeframe, key]);
  if (loaded?.marketId === marketId && loaded.timeframe === timeframe) return loaded.history;
  return failed === key ? 'failed' : 'loading';
}

/** The price of the outcome shown over time. */
export const Chart = ({ market, shown }: { readonly market: Market; readonly shown: Shown | null }) => {
  const [timeframe, setTimeframe] = useState<Timeframe>('1d');
  const index = useCell(outcome);
  const history = useHistory(market.id, timeframe);
  const points = typeof history === 'string' ? [] : pointsOf(history, index);
  const words = TIMEFRAMES.find(([name]) => name === timeframe)?.[1];
  const first = points[0];
  const latest = latestOf(shown, history, index);
  const end = points.at(-1);
  const last = latest && (!end || latest.t >= end.t) ? latest : end;
  const name = index === 0 ? 'Yes' : 'No';
  const label = last
    ? `Chance of ${name} over the last ${words}: from ${percent((first ?? last).pips)} to ${percent(last.pips)}`
    : `Chance of ${name} over the last ${words}`;
  return (
    <section class="card chart" aria-label="Chart">
      <fieldset class="chart-frames" aria-label="Time frame">
        {TIMEFRAMES.map(([value, meaning]) => (
          <button
            key={value}
            type="button"
            class="chip"
            aria-pressed={value === timeframe}
            title={`The last ${meaning}`}
            onClick={() => setTimeframe(value)}
          >
            {value}
          </button>
        ))}
      </fieldset>
      <div class="chart-area" data-testid="chart" role="img" aria-label={label}>
        <Canvas points={points} latest={latest} />
        {history === 'failed' && (
          <Notice title="The chart could not be loaded">Choose a time frame to try again.</Notice>
        )}
        {typeof history !== 'string' && points.length === 0 && !shown?.trades?.length && (
          <Notice title="No trades yet">The chart begins with the first trade.</Notice>
        )}
      </div>
    </section>
  );
};

const pointsOf = ({ outcomes }: PriceHistory, index: 0 | 1): Point[] =>
  (outcomes[index]?.history ?? []).map(({ t, p }) => ({ t, pips: pipsOf(p) }));

/** Where the latest trade belongs in the history; null while one of them is not known. */
function latestOf(shown: Shown | null, history: PriceHistory | string, index: 0 | 1): Point | null {
  const trade = shown?.trades?.[0];
  if (!trade || typeof history === 'string') return null;
  const second = Math.floor(Date.parse(trade.matchedAt) / 1_000);
  const pips = trade.outcomeIndex === index ? pipsOf(trade.price) : PIPS_ONE - pipsOf(trade.price);
  return { t: second - (second % history.interval), pips };
}

const Canvas = ({ points, latest }: { readonly points: readonly Point[]; readonly latest: Point | null }) => {
  const element = useRef<HTMLDivElement>(null);
  const [drawing, setDrawing] = useState<Drawing | null>(null);
  const colours = useCell(theme);
  useEffect(() => {
    let made: Drawing | null = null;
    let isGone = false;
    const load = (): void =>
      void import('../chart-canvas').then(
        ({ draw }) => {
          if (isGone || !element.current) return;
          made = draw(element.current);
          setDrawing(made);
        },
        () => undefined,
      );
    // The book comes first.
    const timer = setTimeout(load, CHART_WAITS_MS);
    return () => {
      isGone = true;
      clearTimeout(timer);
      made?.remove();
    };
  }, []);
  const version = `${points.length} ${points[0]?.t} ${points[0]?.pips} ${points.at(-1)?.t} ${points.at(-1)?.pips}`;
  useEffect(() => drawing?.show(points), [drawing, version]);
  useEffect(() => {
    const end = points.at(-1);
    if (drawing && latest && (!end || latest.t >= end.t)) drawing.add(latest);
  }, [drawing, version, latest?.t, latest?.pips]);
  useEffect(() => drawing?.recolour(), [drawing, colours]);
  return <div ref={element} class="chart-canvas" />;
};
