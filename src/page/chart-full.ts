import type { TradedCandle } from 'ctf-exchange-client';
import {
  AreaSeries,
  CandlestickSeries,
  CrosshairMode,
  createChart,
  HistogramSeries,
  LineStyle,
  type SeriesMarker,
  type Time,
} from 'lightweight-charts';
import type { Lines } from './chart-canvas';
import {
  colourOf,
  createMarks,
  formatOf,
  LAYOUT,
  recolourChart,
  stepOf,
  toTime,
  widened,
} from './chart-parts';
import { lotsOf, pipsOf } from './units';

/** The traders' chart. scripts/build-page.js bundles it alone with its parts of the drawing library. */

export type Kind = 'line' | 'candles';

/** The result of the market, at the end of its chart. */
export interface End {
  /** Epoch seconds. */
  readonly t: number;
  readonly pips: number;
  readonly text: string;
}

export interface FullDrawing {
  /** Candles are oldest first. A market that goes on has no end. */
  show(candles: readonly TradedCandle[], end: End | null, tickPips: number): void;
  mark(lines: Lines): void;
  recolour(): void;
  /** Bars that the chart moves by, and the factor by which it widens them: for the keys. */
  move(bars: number, zoom: number): void;
  remove(): void;
}

/** What the chart tells the page. */
export interface Listener {
  /** The candle at the pointer. */
  onHover(candle: TradedCandle | null): void;
  /** The reader has come to the first candle. */
  onBeginning(): void;
}

/** Bars to the left of which the page asks for earlier candles. */
const BEGINNING_BARS = 10;
const VOLUME_PANE = 1;
/** The heights of the panes are as 4 to 1. */
const STRETCH = [4, 1] as const;

export function drawFull(element: HTMLElement, kind: Kind, listener: Listener): FullDrawing {
  const chart = createChart(element, {
    autoSize: true,
    layout: { ...LAYOUT, panes: { enableResize: false } },
    rightPriceScale: {
      borderVisible: false,
      entireTextOnly: true,
      minimumWidth: 48,
      // `widened` leaves the room.
      scaleMargins: { top: 0.02, bottom: 0.02 },
    },
    timeScale: { borderVisible: false, timeVisible: true, secondsVisible: false },
    grid: { vertLines: { visible: false }, horzLines: { style: LineStyle.Dotted } },
    crosshair: { mode: CrosshairMode.Magnet },
    // A finger that moves up or down scrolls the page, and no gesture leads beyond 0 and 100.
    handleScroll: { vertTouchDrag: false },
    handleScale: { axisPressedMouseMove: { time: true, price: false } },
  });
  const common = {
    priceLineVisible: false,
    lastValueVisible: false,
    priceFormat: formatOf(1),
    autoscaleInfoProvider: (
      original: () => { priceRange: { minValue: number; maxValue: number } | null } | null,
    ) => widened(original()),
  };
  const prices =
    kind === 'line'
      ? chart.addSeries(AreaSeries, { ...common, lineWidth: 2 })
      : chart.addSeries(CandlestickSeries, { ...common, borderVisible: false });
  const volume = chart.addSeries(
    HistogramSeries,
    { priceFormat: { type: 'volume' }, priceLineVisible: false, lastValueVisible: false },
    VOLUME_PANE,
  );
  chart.panes().forEach((pane, at) => void pane.setStretchFactor(STRETCH[at] ?? 1));
  const colour = colourOf(element);
  let known: readonly TradedCandle[] = [];
  let ending: End | null = null;
  const byTime = new Map<number, TradedCandle>();
  const marks = createMarks(
    element,
    prices,
    () => [...byTime.keys()],
    (): SeriesMarker<Time> | null =>
      ending && {
        time: toTime(ending.t),
        position: 'inBar',
        shape: 'circle',
        color: colour('--text'),
        text: ending.text,
      },
  );
  chart.subscribeCrosshairMove(({ time }) => listener.onHover(byTime.get(Number(time ?? 0)) ?? null));
  chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
    element.dataset.range = range ? `${Math.round(range.from)} ${Math.round(range.to)}` : '';
    if (range && known.length > 0 && range.from < BEGINNING_BARS) listener.onBeginning();
  });

  function fill(): void {
    byTime.clear();
    for (const candle of known) byTime.set(toTime(candle.t), candle);
    const last = ending && { time: toTime(ending.t), pips: ending.pips };
    const inPoints = (price: string): number => pipsOf(price) / 100;
    // Both kinds read the members that are theirs.
    const bars = known.map(({ t, o, h, l, c }) => ({
      time: toTime(t),
      open: inPoints(o),
      high: inPoints(h),
      low: inPoints(l),
      close: inPoints(c),
      value: inPoints(c),
    }));
    const point = last && last.pips / 100;
    prices.setData(
      last && point !== null
        ? [
            ...bars.filter(({ time }) => time < last.time),
            { time: last.time, open: point, high: point, low: point, close: point, value: point },
          ]
        : bars,
    );
    volume.setData(
      known.map(({ t, o, c, v }) => ({
        time: toTime(t),
        value: lotsOf(v) / 100,
        color: colour(pipsOf(c) >= pipsOf(o) ? '--yes' : '--no'),
      })),
    );
    marks.refresh();
  }

  function recolour(): void {
    recolourChart(element, chart);
    chart.applyOptions({ layout: { panes: { separatorColor: colour('--line') } } });
    if (kind === 'line') {
      prices.applyOptions({
        lineColor: colour('--chart-line'),
        topColor: colour('--chart-top'),
        bottomColor: colour('--chart-bottom'),
      });
    } else {
      const [up, down] = [colour('--yes'), colour('--no')];
      prices.applyOptions({ upColor: up, wickUpColor: up, downColor: down, wickDownColor: down });
    }
  }
  recolour();

  return {
    show(candles, end, tickPips) {
      [known, ending] = [candles, end];
      const ends = candles.flatMap(({ t, h, l }) => [
        { t, pips: pipsOf(h) },
        { t, pips: pipsOf(l) },
      ]);
      prices.applyOptions({ priceFormat: formatOf(stepOf(ends, tickPips)) });
      fill();
    },
    mark: marks.set,
    recolour() {
      recolour();
      fill();
    },
    move(bars, zoom) {
      const scale = chart.timeScale();
      scale.scrollToPosition(scale.scrollPosition() + bars, false);
      chart.applyOptions({ timeScale: { barSpacing: scale.options().barSpacing * zoom } });
    },
    remove: () => chart.remove(),
  };
}
