import type { TradedCandle } from 'ctf-exchange-client';
import {
  AreaSeries,
  CandlestickSeries,
  CrosshairMode,
  createChart,
  createSeriesMarkers,
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
  SCALE,
  SERIES,
  stepOf,
  toTime,
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

/** The time at which trading ends, of a market without a result. */
export interface Closing {
  /** Epoch seconds. */
  readonly t: number;
  readonly text: string;
  /** The seconds of a candle. */
  readonly candleSec: number;
}

export interface FullDrawing {
  /** Candles are oldest first. A market that goes on has no end, and one with an end no closing. */
  show(candles: readonly TradedCandle[], end: End | null, closing: Closing | null, tickPips: number): void;
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

/** The most empty places between the last candle and a closing time ahead: beyond them the axis leaves time out. */
const AHEAD_MAX = 12;
/** The height of the bar, of a pane of 1; its words are above. */
const CLOSING_BAR = 0.88;
/** Room for half of the words of the closing time, in bars. */
const ROOM_BARS = 10;

export function drawFull(element: HTMLElement, kind: Kind, listener: Listener): FullDrawing {
  const chart = createChart(element, {
    autoSize: true,
    layout: { ...LAYOUT, panes: { enableResize: false } },
    rightPriceScale: SCALE,
    timeScale: { borderVisible: false, timeVisible: true, secondsVisible: false },
    grid: { vertLines: { visible: false }, horzLines: { style: LineStyle.Dotted } },
    crosshair: { mode: CrosshairMode.Magnet },
    // A finger that moves up or down scrolls the page, and no gesture leads beyond 0 and 100.
    handleScroll: { vertTouchDrag: false },
    handleScale: { axisPressedMouseMove: { time: true, price: false } },
  });
  const prices =
    kind === 'line'
      ? chart.addSeries(AreaSeries, { ...SERIES, lineWidth: 2 })
      : chart.addSeries(CandlestickSeries, { ...SERIES, borderVisible: false });
  const volume = chart.addSeries(
    HistogramSeries,
    { priceFormat: { type: 'volume' }, priceLineVisible: false, lastValueVisible: false },
    VOLUME_PANE,
  );
  // A bar almost as high as the pane: the library has no vertical lines.
  const closingBar = chart.addSeries(HistogramSeries, {
    priceScaleId: '',
    priceLineVisible: false,
    lastValueVisible: false,
    autoscaleInfoProvider: () => ({ priceRange: { minValue: 0, maxValue: 1 } }),
  });
  closingBar.priceScale().applyOptions({ scaleMargins: { top: 0, bottom: 0 } });
  const closingWords = createSeriesMarkers(closingBar, []);
  chart.panes().forEach((pane, at) => void pane.setStretchFactor(STRETCH[at] ?? 1));
  const colour = colourOf(element);
  let known: readonly TradedCandle[] = [];
  let ending: End | null = null;
  let closing: Closing | null = null;
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
    fillClosing();
  }

  function fillClosing(): void {
    const last = known.at(-1);
    if (!closing || !last) {
      closingBar.setData([]);
      closingWords.setMarkers([]);
      return;
    }
    const { t, text, candleSec } = closing;
    const ahead = Math.min(AHEAD_MAX, Math.ceil((t - last.t) / candleSec) - 1);
    const time = toTime(t);
    closingBar.setData([
      ...Array.from({ length: Math.max(0, ahead) }, (_, i) => ({
        time: toTime(last.t + (i + 1) * candleSec),
      })),
      { time, value: CLOSING_BAR, color: colour('--muted') },
    ]);
    const mark = { time, position: 'atPriceMiddle', price: 0.94, shape: 'square', size: 0 } as const;
    closingWords.setMarkers([{ ...mark, color: colour('--text'), text }]);
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
    show(candles, end, nextClosing, tickPips) {
      if (nextClosing && !closing) chart.applyOptions({ timeScale: { rightOffset: ROOM_BARS } });
      [known, ending, closing] = [candles, end, nextClosing];
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
