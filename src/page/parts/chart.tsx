import type { Market, Timeframe } from 'ctf-exchange-client';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useCell } from '../cell';
import type { Drawing, Lines, Point } from '../chart-canvas';
import { endOf, pointsOf as historyOf, useHistory } from '../chart-history';
import { isOver } from '../exchange-state';
import { lazy } from '../lazy';
import { keep, kept } from '../local-storage';
import { chanceOf, dayFacts, openPips, type Shown } from '../market-data';
import { nameOf } from '../outcome-names';
import { theme } from '../theme';
import { outcome } from '../ticket-state';
import { dayAndTime, nowMs, numberWords, PIPS_ONE, percent, pipsOf, pointsOf } from '../units';
import { useOwnLines } from './chart-lines';
import { Notice } from './notice';
import { stretchOf, Timeframes } from './timeframes';

const TIMEFRAMES: readonly Timeframe[] = ['1h', '6h', '1d', '1w', '1m', 'all'];
const CHART_WAITS_MS = 150;

/** The chance of the chosen outcome, as in head and list, in the bucket that is filling. */
function latestOf(shown: Shown | null, index: 0 | 1, interval: number): Point | null {
  const yes = shown?.trades?.length ? chanceOf(shown) : null;
  if (yes === null) return null;
  const second = Math.floor(nowMs() / 1_000);
  return { t: second - (second % interval), pips: index === 0 ? yes : PIPS_ONE - yes };
}

/** All points of the chart, oldest first: those of the history, and the present or the end. */
function useLine(market: Market, shown: Shown | null, timeframe: Timeframe, index: 0 | 1) {
  const history = useHistory(market.id, timeframe);
  const end = endOf(market, index);
  const known = typeof history === 'string' ? null : history;
  const latest = end ?? (known && latestOf(shown, index, known.interval));
  const points = useMemo(() => {
    if (!known) return [];
    const told = historyOf(known, index);
    if (!latest || (told.length === 0 && !shown?.trades?.length)) return told;
    return [...told.filter(({ t }) => t < latest.t), latest];
  }, [known, index, latest?.t, latest?.pips]);
  return { history, points };
}

/** The price that the change counts from: of the day that of head and list, of other times the first point. */
function beginningOf(
  points: readonly Point[],
  timeframe: Timeframe,
  market: Market,
  shown: Shown | null,
  index: 0 | 1,
): number | null {
  const first = points[0]?.pips ?? null;
  const open = timeframe === '1d' && !isOver(market) ? openPips(dayFacts(market, shown?.ticker)) : null;
  if (first === null || open === null) return first;
  return index === 0 ? open : PIPS_ONE - open;
}

interface ChartProps {
  readonly market: Market;
  readonly shown: Shown | null;
  /** The button that leads to the other chart. */
  readonly children?: ComponentChildren;
}

const FullChart = lazy(
  async () => (await import('./full-chart')).FullChart,
  <section class="card chart chart-waiting chart-full-waiting" />,
);

/** The small chart, or that for traders; this browser remembers which. */
export const Chart = (props: ChartProps) => {
  const [isFull, setFull] = useState(kept('chart') !== null);
  const isPressed = useRef(false);
  const Kind = isFull ? FullChart : SmallChart;
  return (
    <Kind {...props}>
      <button
        type="button"
        class="chip"
        aria-pressed={isFull}
        ref={(button) => {
          // It is another element now.
          if (isPressed.current) button?.focus();
          if (button) isPressed.current = false;
        }}
        onClick={() => {
          isPressed.current = true;
          keep('chart', isFull ? null : 'full');
          setFull(!isFull);
        }}
      >
        Full chart
      </button>
    </Kind>
  );
};

/** The chance of the chosen outcome over time. */
const SmallChart = ({ market, shown, children }: ChartProps) => {
  const [timeframe, setTimeframe] = useState<Timeframe>('1d');
  const [hovered, setHovered] = useState<Point | null>(null);
  const index = useCell(outcome);
  const now = shown?.market ?? market;
  const { history, points } = useLine(now, shown, timeframe, index);
  const lines = useOwnLines(now.id, index);
  const words = stretchOf(timeframe);
  const last = points.at(-1);
  const from = beginningOf(points, timeframe, now, shown, index);
  const tick = pipsOf(now.tickSize);
  const name = nameOf(now, index);
  const label =
    from !== null && last
      ? `Chance of ${name} over the last ${words}: from ${percent(from, tick)} to ${percent(last.pips, tick)}`
      : `Chance of ${name} over the last ${words}`;
  return (
    <section class="card chart" aria-label="Chart">
      <div class="chart-head">
        <Title
          name={name}
          at={hovered ?? last ?? null}
          isHovered={hovered !== null}
          from={from}
          tick={tick}
        />
        <Timeframes label="Time frame" from={TIMEFRAMES} chosen={timeframe} onChoose={setTimeframe}>
          {children}
        </Timeframes>
      </div>
      <div class="chart-area" data-testid="chart" role="img" aria-label={label}>
        <Canvas points={points} tick={tick} lines={lines} onHover={setHovered} />
        {history === 'failed' && (
          <Notice title="The chart could not be loaded">The page tries again by itself.</Notice>
        )}
        {typeof history !== 'string' && points.length === 0 && (
          <Notice title="No trades yet">The chart begins with the first trade.</Notice>
        )}
      </div>
    </section>
  );
};

interface TitleProps {
  readonly name: string;
  readonly at: Point | null;
  readonly isHovered: boolean;
  readonly from: number | null;
  readonly tick: number;
}

/** The value at the pointer, else the latest; the change is since the chart's beginning. */
const Title = ({ name, at, isHovered, from, tick }: TitleProps) => {
  const points = at && from !== null ? pointsOf(at.pips - from) : 0;
  return (
    <h2 class="chart-title">
      Chance of {name}
      {at && (
        <>
          {' '}
          <strong>{percent(at.pips, tick)}</strong>
          {points !== 0 && (
            <span class={points > 0 ? 'chart-change up' : 'chart-change down'}>
              {points > 0 ? '+' : '−'}
              {numberWords(Math.abs(points))}
            </span>
          )}
          {isHovered && <time class="chart-time">{dayAndTime(at.t * 1_000)}</time>}
        </>
      )}
    </h2>
  );
};

interface CanvasProps {
  readonly points: readonly Point[];
  readonly tick: number;
  readonly lines: Lines;
  onHover(point: Point | null): void;
}

const Canvas = ({ points, tick, lines, onHover }: CanvasProps) => {
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
          made = draw(element.current, onHover);
          setDrawing(made);
        },
        () => undefined,
      );
    // The book loads first.
    const timer = setTimeout(load, CHART_WAITS_MS);
    return () => {
      isGone = true;
      clearTimeout(timer);
      made?.remove();
    };
  }, []);
  useEffect(() => drawing?.show(points, tick), [drawing, points, tick]);
  useEffect(() => drawing?.mark(lines), [drawing, lines, colours]);
  useEffect(() => drawing?.recolour(), [drawing, colours]);
  // An empty market must not show the scale of the market before.
  return <div ref={element} class={points.length === 0 ? 'chart-canvas chart-empty' : 'chart-canvas'} />;
};
