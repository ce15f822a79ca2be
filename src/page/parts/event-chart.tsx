import '../app'; // In one chunk with the first view: see scripts/build-page.js.
import type { Market, PricePoint, Timeframe } from 'ctf-exchange-client';
import { useEffect, useState } from 'preact/hooks';
import { endOf } from '../chart-history';
import { client } from '../exchange';
import { dayAndTime, nowMs, PIPS_ONE, percent, pipsOf } from '../units';
import { listedChance } from './markets-page';
import { Timeframes } from './timeframes';

const TIMEFRAMES: readonly Timeframe[] = ['1d', '1w', '1m', 'all'];
const REFRESH_MS = 60_000;
const WIDTH = 600;
const HEIGHT = 200;
const TICK_SECONDS = 60;

interface Line {
  readonly market: Market;
  /** Seconds and pips of the first outcome, oldest first. */
  readonly points: readonly (readonly [t: number, pips: number])[];
}

const pointOf = ({ t, p }: PricePoint) => [t, pipsOf(p)] as const;

/** Up to the payout of what is over, and else up to the present. */
function lineOf(market: Market, history: readonly PricePoint[]): Line {
  const points = history.map(pointOf);
  const end = endOf(market, 0);
  const chance = listedChance(market);
  if (end) return { market, points: [...points.filter(([t]) => t < end.t), [end.t, end.pips]] };
  if (chance === null || points.length === 0) return { market, points };
  return { market, points: [...points, [Math.floor(nowMs() / 1_000), chance]] };
}

function useHistories(
  markets: readonly Market[],
  timeframe: Timeframe,
): ReadonlyMap<string, readonly PricePoint[]> {
  const [histories, setHistories] = useState<ReadonlyMap<string, readonly PricePoint[]>>(new Map());
  const ids = markets.map(({ id }) => id).join(' ');
  useEffect(() => {
    let isCurrent = true;
    const load = (): void => {
      if (document.visibilityState !== 'visible') return;
      for (const id of ids.split(' '))
        client.priceHistory(id, timeframe).then(
          ({ history }) => isCurrent && setHistories((known) => new Map(known).set(id, history)),
          () => undefined, // Asked again with the next refresh.
        );
    };
    load();
    const timer = setInterval(load, REFRESH_MS);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [ids, timeframe]);
  return histories;
}

/** The last price at or before a time; null before the first. */
const priceAt = ({ points }: Line, t: number): number | null =>
  points.findLast(([at]) => at <= t)?.[1] ?? null;

/** A scale from zero in four even steps of whole percents. */
function topOf(lines: readonly Line[]): number {
  const most = Math.max(...lines.flatMap(({ points }) => points.map(([, pips]) => pips)), 0);
  return [2_000, 4_000, 6_000, 8_000].find((top) => most <= top) ?? PIPS_ONE;
}

interface Props {
  /** The likeliest first; each has a line and a colour. */
  readonly markets: readonly Market[];
}

/** The chances of several markets over time, with their values at the pointer. */
export const EventChart = ({ markets }: Props) => {
  const [timeframe, setTimeframe] = useState<Timeframe>('1w');
  const [hovered, setHovered] = useState<number | null>(null);
  const histories = useHistories(markets, timeframe);
  const lines = markets.map((market) => lineOf(market, histories.get(market.id) ?? []));
  const times = lines.flatMap(({ points }) => points.map(([t]) => t));
  const [from, until] = [Math.min(...times), Math.max(...times)];
  const lasts = Math.max(until - from, TICK_SECONDS);
  const top = topOf(lines);
  const hover = ({ currentTarget, clientX }: PointerEvent & { readonly currentTarget: Element }): void => {
    const { left, width } = currentTarget.getBoundingClientRect();
    if (times.length > 0 && width > 0) setHovered(Math.round(from + ((clientX - left) / width) * lasts));
  };
  const path = ({ points }: Line): string =>
    points
      .map(([t, pips], at) => {
        const x = (((t - from) / lasts) * WIDTH).toFixed(1);
        const y = (HEIGHT - (pips / top) * HEIGHT).toFixed(1);
        // A price lasts until the next one.
        return at === 0 ? `M${x},${y}` : `H${x}V${y}`;
      })
      .join('');
  return (
    <section class="card event-chart" aria-label="Chart">
      <div class="chart-head">
        <ul class="event-legend">
          {lines.map((line, at) => {
            const pips = hovered === null ? listedChance(line.market) : priceAt(line, hovered);
            return (
              <li key={line.market.id} class={`event-line-${at}`} dir="auto">
                {line.market.question}{' '}
                <strong>{pips === null ? '–' : percent(pips, pipsOf(line.market.tickSize))}</strong>
              </li>
            );
          })}
        </ul>
        <Timeframes label="Time frame" from={TIMEFRAMES} chosen={timeframe} onChoose={setTimeframe} />
      </div>
      <div class="event-plot" data-testid="event-chart">
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`Chances of ${markets.length} markets over time`}
          onPointerMove={hover}
          onPointerLeave={() => setHovered(null)}
        >
          {[1, 2, 3].map((quarter) => (
            <path key={quarter} class="event-grid" d={`M0,${(HEIGHT / 4) * quarter}H${WIDTH}`} />
          ))}
          {hovered !== null && (
            <path class="event-grid" d={`M${((hovered - from) / lasts) * WIDTH},0V${HEIGHT}`} />
          )}
          {lines.map((line, at) => (
            <path key={line.market.id} class={`event-line event-line-${at}`} d={path(line)} />
          ))}
        </svg>
        <ol class="event-scale" aria-hidden="true">
          {[4, 3, 2, 1, 0].map((quarter) => (
            <li key={quarter}>{((top / 4) * quarter) / 100}%</li>
          ))}
        </ol>
      </div>
      <p class="hint event-time">
        {hovered !== null
          ? dayAndTime(hovered * 1_000)
          : times.length > 0
            ? `${dayAndTime(from * 1_000)} to ${dayAndTime(until * 1_000)}`
            : 'The chart begins with the first trade.'}
      </p>
    </section>
  );
};
