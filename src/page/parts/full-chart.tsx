import '../app'; // In one chunk with the first view: see scripts/build-page.js.
import type { CandleInterval, Market, TradedCandle } from 'ctf-exchange-client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useCell } from '../cell';
import type { Closing, End, FullDrawing, Kind } from '../chart-full';
import { endOf } from '../chart-history';
import { client } from '../exchange';
import { keep, kept } from '../local-storage';
import type { Shown } from '../market-data';
import { nameOf } from '../outcome-names';
import { theme } from '../theme';
import { outcome } from '../ticket-state';
import { centsOf, clockTime, counted, dateOf, dayAndTime, lotsOf, nowMs, pipsOf } from '../units';
import { useOwnLines } from './chart-lines';
import { Notice } from './notice';

/** The address of the bundle of chart-full.ts, which the build fills in. */
declare const FULL_CHART: string;

/** The seconds of a candle. */
const SECONDS: Readonly<Record<CandleInterval, number>> = {
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '1h': 3_600,
  '4h': 14_400,
  '1d': 86_400,
};
const INTERVALS = Object.keys(SECONDS) as CandleInterval[];
const KINDS: readonly (readonly [Kind, string])[] = [
  ['candles', 'Candles'],
  ['line', 'Line'],
];
const KIND = 'chart-kind';
const INTERVAL = 'chart-interval';
const CANDLES_MAX = 500;
/** Trades come many a second; the candle that is filling is read at most this often. */
const REFRESH_MS = 3_000;

interface Loaded {
  readonly key: string;
  readonly candles: readonly TradedCandle[];
  readonly hasMore: boolean;
}

const merged = (known: readonly TradedCandle[], more: readonly TradedCandle[]): TradedCandle[] =>
  [...new Map([...known, ...more].map((candle) => [candle.t, candle])).values()].sort((a, b) => a.t - b.t);

/** The candles of a market: the latest, earlier ones as the reader scrolls, and the present one as it fills. */
function useCandles(marketId: string, interval: CandleInterval, index: 0 | 1, tradeId: string | undefined) {
  const key = `${marketId} ${interval} ${index}`;
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [isFailed, setFailed] = useState(false);
  const [isDue, setDue] = useState(0);
  const isAsking = useRef(false);
  const now = loaded?.key === key ? loaded : null;
  const ask = (to?: number): void => {
    isAsking.current = true;
    const query = { interval, outcomeIndex: index, limit: CANDLES_MAX, to };
    client.candles(marketId, query).then(
      ({ candles }) => {
        isAsking.current = false;
        setFailed(false);
        setLoaded((before) => {
          const same = before?.key === key ? before : null;
          // Only the answer to the first request, or to one for earlier candles, says whether there are more.
          const hasMore = same && to === undefined ? same.hasMore : candles.length === CANDLES_MAX;
          return { key, candles: merged(same?.candles ?? [], candles), hasMore };
        });
      },
      () => {
        isAsking.current = false;
        setFailed(true);
      },
    );
  };
  useEffect(() => {
    ask();
    const timer = setInterval(() => setDue((before) => before + 1), REFRESH_MS);
    return () => clearInterval(timer);
  }, [key]);
  const askedFor = useRef(tradeId);
  useEffect(() => {
    if (askedFor.current === tradeId && !isFailed) return;
    askedFor.current = tradeId;
    ask();
  }, [isDue]);
  const earlier = (): void => {
    const first = now?.candles[0];
    if (now?.hasMore && first && !isAsking.current) ask(first.t - 1);
  };
  return { candles: now?.candles ?? null, isFailed, earlier };
}

interface FullChartProps {
  readonly market: Market;
  readonly shown: Shown | null;
  /** Leads back to the small chart. */
  readonly children: preact.ComponentChildren;
}

/** Moves and widens of each key. */
const KEYS: Readonly<Record<string, readonly [bars: number, zoom: number]>> = {
  ArrowLeft: [-5, 1],
  ArrowRight: [5, 1],
  '+': [0, 1.25],
  '-': [0, 0.8],
};

const factsOf = ({ t, o, h, l, c, v }: TradedCandle): string =>
  `Open ${centsOf(o)} High ${centsOf(h)} Low ${centsOf(l)} Close ${centsOf(c)}, ${counted(lotsOf(v), 'share')}, ${dayAndTime(t * 1_000)}`;

/** Candles or a line with volume, which scroll and zoom: for traders. */
export const FullChart = ({ market: given, shown, children }: FullChartProps) => {
  const market = shown?.market ?? given;
  const index = useCell(outcome);
  const [kind, setKind] = useState<Kind>(kept(KIND) === 'line' ? 'line' : 'candles');
  const [interval, setPeriod] = useState(() => INTERVALS.find((one) => one === kept(INTERVAL)) ?? '15m');
  const [hovered, setHovered] = useState<TradedCandle | null>(null);
  const { candles, isFailed, earlier } = useCandles(market.id, interval, index, shown?.trades?.[0]?.id);
  const name = nameOf(market, index);
  const last = hovered ?? candles?.at(-1);
  return (
    <section class="card chart" aria-label="Chart">
      <div class="chart-head">
        <h2 class="chart-title">
          {name} <span class="chart-facts">{last && factsOf(last)}</span>
        </h2>
        <fieldset class="chart-frames" aria-label="Candles of">
          {INTERVALS.map((one) => (
            <button
              key={one}
              type="button"
              class="chip"
              aria-pressed={one === interval}
              onClick={() => {
                keep(INTERVAL, one);
                setPeriod(one);
              }}
            >
              {one}
            </button>
          ))}
        </fieldset>
        <fieldset class="chart-frames" aria-label="Kind of chart">
          {KINDS.map(([value, word]) => (
            <button
              key={value}
              type="button"
              class="chip"
              aria-pressed={value === kind}
              onClick={() => {
                keep(KIND, value);
                setKind(value);
              }}
            >
              {word}
            </button>
          ))}
          {children}
        </fieldset>
      </div>
      <FullCanvas
        key={`${kind} ${interval} ${market.id}`}
        market={market}
        index={index}
        kind={kind}
        interval={interval}
        candles={candles}
        isFailed={isFailed}
        onHover={setHovered}
        onBeginning={earlier}
      />
    </section>
  );
};

interface FullCanvasProps {
  readonly market: Market;
  readonly index: 0 | 1;
  readonly kind: Kind;
  readonly interval: CandleInterval;
  readonly candles: readonly TradedCandle[] | null;
  readonly isFailed: boolean;
  onHover(candle: TradedCandle | null): void;
  onBeginning(): void;
}

/** The payout, at the end of the chart of a market with a result. */
function endingOf(market: Market, index: 0 | 1): End | null {
  const end = endOf(market, index);
  const won = market.resolution?.outcomeIndex;
  return end && { ...end, text: won == null ? 'Void' : `Resolved: ${nameOf(market, won)}` };
}

/** When trading ends, in a market without a result. */
function closingOf({ closesAt, resolution }: Market, interval: CandleInterval): Closing | null {
  if (closesAt === null || resolution) return null;
  const ms = Date.parse(closesAt);
  const word = ms > nowMs() ? 'Closes' : 'Closed';
  return {
    t: Math.floor(ms / 1_000),
    text: `${word} ${dateOf(closesAt)}, ${clockTime(ms)}`,
    candleSec: SECONDS[interval],
  };
}

const FullCanvas = (props: FullCanvasProps) => {
  const { market, index, kind, interval, candles, isFailed } = props;
  const element = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const [drawing, setDrawing] = useState<FullDrawing | 'failed' | null>(null);
  const drawn = drawing === 'failed' ? null : drawing;
  const lines = useOwnLines(market.id, index);
  const colours = useCell(theme);
  const tick = pipsOf(market.tickSize);
  useEffect(() => {
    let made: FullDrawing | null = null;
    let isGone = false;
    (import(FULL_CHART) as Promise<typeof import('../chart-full')>).then(
      ({ drawFull }) => {
        if (isGone || !element.current) return;
        made = drawFull(element.current, kind, {
          onHover: (candle) => latest.current.onHover(candle),
          onBeginning: () => latest.current.onBeginning(),
        });
        setDrawing(made);
      },
      () => setDrawing('failed'),
    );
    return () => {
      isGone = true;
      made?.remove();
    };
  }, []);
  useEffect(
    () => drawn?.show(candles ?? [], candles && endingOf(market, index), closingOf(market, interval), tick),
    [drawn, candles, market.resolution, market.closesAt, index, tick],
  );
  useEffect(() => drawn?.mark(lines), [drawn, lines, colours]);
  useEffect(() => drawn?.recolour(), [drawn, colours]);
  const what = `${kind === 'line' ? 'Line' : 'Candles'} of ${nameOf(market, index)}, ${interval} each, with volume`;
  const ending = endingOf(market, index) ?? closingOf(market, interval);
  const label = `${what}${ending ? `, ${ending.text}` : ''}; arrow keys move it, + and − zoom`;
  return (
    <div
      class="chart-area chart-full"
      data-testid="chart"
      data-candles={candles?.length}
      role="img"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: its keys move the chart
      tabIndex={0}
      onKeyDown={(event) => {
        const move = KEYS[event.key];
        if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
        drawn?.move(...move);
        event.preventDefault();
      }}
    >
      <div ref={element} class={candles?.length === 0 ? 'chart-canvas chart-empty' : 'chart-canvas'} />
      {drawing === 'failed' ? (
        <Notice title="The chart could not be loaded">Reload the page.</Notice>
      ) : (
        isFailed &&
        !candles && <Notice title="The chart could not be loaded">The page tries again by itself.</Notice>
      )}
      {candles?.length === 0 && <Notice title="No trades yet">The chart begins with the first trade.</Notice>}
    </div>
  );
};
