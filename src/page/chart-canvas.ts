import {
  AreaSeries,
  ColorType,
  CrosshairMode,
  createChart,
  createSeriesMarkers,
  type IChartApi,
  type IPriceLine,
  type ISeriesApi,
  LineStyle,
  type SeriesMarker,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts';
import { EDGE_PIPS, PIPS_ONE, WHOLE_CENT_PIPS as PIPS_PER_POINT, percent } from './units';

/** The drawing library, loaded when the first chart is shown. */

export interface Point {
  /** Epoch seconds. */
  readonly t: number;
  readonly pips: number;
}

/** The wallet's orders and fills in the market. */
export interface Lines {
  readonly orders: readonly {
    readonly id: string;
    readonly pips: number;
    readonly isBid: boolean;
    readonly title: string;
  }[];
  readonly fills: readonly { readonly id: string; readonly t: number; readonly isBuy: boolean }[];
}

export interface Drawing {
  /** `tickPips` of the market: where prices are finer than a cent, so is the scale. */
  show(points: readonly Point[], tickPips: number): void;
  mark(lines: Lines): void;
  /** Colours are those of the style sheet. */
  recolour(): void;
  remove(): void;
}

/** A label of the scale, as every chance on the page is written. */
const labelOf = (value: number): string =>
  // The library may choose steps of 2.5 points.
  percent(Math.round(value * PIPS_PER_POINT), Number.isInteger(value) ? PIPS_PER_POINT : 1);
const labelOfFine = (value: number): string => percent(Math.round(value * PIPS_PER_POINT), 1);
const formatOf = (minMove: number) => ({
  type: 'custom' as const,
  minMove,
  formatter: minMove < 1 ? labelOfFine : labelOf,
});

/** Two labels never read the same: the scale has steps of a point where labels have no decimal. */
function stepOf(points: readonly Point[], tickPips: number): number {
  const isEdge = points.some(({ pips }) => pips < EDGE_PIPS || pips > PIPS_ONE - EDGE_PIPS);
  return tickPips < PIPS_PER_POINT || isEdge ? 0.1 : 1;
}

const toTime = (t: number): UTCTimestamp =>
  // The library has no time zones: with shifted times, the axis shows the reader's own.
  (t - new Date(t * 1_000).getTimezoneOffset() * 60) as UTCTimestamp;
const toBar = ({ t, pips }: Point) => ({ time: toTime(t), value: pips / 100 });

export function draw(element: HTMLElement, onHover: (point: Point | null) => void): Drawing {
  const chart = createChart(element, {
    autoSize: true,
    layout: {
      attributionLogo: false,
      fontSize: 12,
      background: { type: ColorType.Solid, color: 'transparent' },
    },
    rightPriceScale: {
      borderVisible: false,
      entireTextOnly: true,
      minimumWidth: 48,
      // `widened` leaves room above and below the line, except beyond 0 and 100.
      scaleMargins: { top: 0.02, bottom: 0.02 },
    },
    timeScale: {
      borderVisible: false,
      timeVisible: true,
      secondsVisible: false,
      fixLeftEdge: true,
      fixRightEdge: true,
    },
    grid: { vertLines: { visible: false }, horzLines: { style: LineStyle.Dotted } },
    crosshair: { mode: CrosshairMode.Magnet, horzLine: { visible: false, labelVisible: false } },
    handleScroll: false,
    handleScale: false,
    localization: { priceFormatter: labelOf },
  });
  const series = chart.addSeries(AreaSeries, {
    lineWidth: 2,
    priceLineVisible: false,
    // It would cover the labels of the scale; the title has it.
    lastValueVisible: false,
    priceFormat: formatOf(1),
    autoscaleInfoProvider: (
      original: () => { priceRange: { minValue: number; maxValue: number } | null } | null,
    ) => widened(original()),
  });
  recolour(element, chart, series);
  const shown = new Map<number, Point>();
  chart.subscribeCrosshairMove(({ time }) => onHover(shown.get(Number(time ?? 0)) ?? null));
  // The library keeps the width of its bars, so a narrower window would lose the newest.
  const fit = new ResizeObserver(() => chart.timeScale().fitContent());
  fit.observe(element);
  const marks = createMarks(element, series, shown);
  return {
    show(points, tickPips) {
      shown.clear();
      series.applyOptions({ priceFormat: formatOf(stepOf(points, tickPips)) });
      for (const point of points) shown.set(toTime(point.t), point);
      series.setData(points.map(toBar));
      chart.timeScale().fitContent();
      marks.refresh();
    },
    mark: marks.set,
    recolour: () => recolour(element, chart, series),
    remove() {
      fit.disconnect();
      chart.remove();
    },
  };
}

/** Draws lines for open orders, a dot at the end of the chart's line, and arrows where the wallet traded. */
function createMarks(element: HTMLElement, series: ISeriesApi<'Area'>, shown: ReadonlyMap<number, Point>) {
  let lines: Lines = { orders: [], fills: [] };
  let drawn: IPriceLine[] = [];
  const markers = createSeriesMarkers(series, []);
  const colour = (name: string): string => getComputedStyle(element).getPropertyValue(name).trim();

  function refresh(): void {
    const times = [...shown.keys()];
    const last = times.at(-1);
    const own = lines.fills.flatMap(({ t, isBuy }): SeriesMarker<Time>[] => {
      const at = times.findLast((time) => time <= toTime(t));
      if (at === undefined) return [];
      const [position, shape] = isBuy
        ? (['belowBar', 'arrowUp'] as const)
        : (['aboveBar', 'arrowDown'] as const);
      return [{ time: at as UTCTimestamp, position, shape, color: colour(isBuy ? '--yes' : '--no') }];
    });
    const end: SeriesMarker<Time>[] =
      last === undefined
        ? []
        : [
            {
              time: last as UTCTimestamp,
              position: 'inBar',
              shape: 'circle',
              color: colour('--chart-line'),
              size: 0.6,
            },
          ];
    markers.setMarkers([...own, ...end].sort((a, b) => Number(a.time) - Number(b.time)));
  }

  return {
    refresh,
    set(next: Lines): void {
      lines = next;
      for (const line of drawn) series.removePriceLine(line);
      drawn = lines.orders.map(({ pips, isBid, title }) =>
        series.createPriceLine({
          price: pips / 100,
          color: colour(isBid ? '--yes' : '--no'),
          lineWidth: 1,
          lineStyle: LineStyle.Dashed,
          axisLabelVisible: false,
          title,
        }),
      );
      refresh();
    },
  };
}

const RANGE_MIN = 4;
/** Room above and below the line, as a part of its height. */
const ROOM = 0.15;

/** A constant price is a line in the middle, not noise across the whole height; the scale never exceeds 0 and 100. */
function widened(info: { priceRange: { minValue: number; maxValue: number } | null } | null) {
  if (!info?.priceRange) return info;
  const { minValue, maxValue } = info.priceRange;
  const range = maxValue - minValue;
  const lacking = Math.max(RANGE_MIN - range, 0) / 2 + ROOM * Math.max(range, RANGE_MIN);
  const priceRange = {
    minValue: Math.max(0, minValue - lacking),
    maxValue: Math.min(100, maxValue + lacking),
  };
  return { ...info, priceRange };
}

function recolour(element: HTMLElement, chart: IChartApi, series: ISeriesApi<'Area'>): void {
  const styles = getComputedStyle(element);
  const colour = (name: string): string => styles.getPropertyValue(name).trim();
  const line = colour('--chart-line');
  chart.applyOptions({
    layout: { textColor: colour('--muted'), fontFamily: styles.fontFamily },
    grid: { horzLines: { color: colour('--line') } },
    crosshair: { vertLine: { color: colour('--muted'), labelBackgroundColor: colour('--chart-label') } },
  });
  series.applyOptions({
    lineColor: line,
    topColor: colour('--chart-top'),
    bottomColor: colour('--chart-bottom'),
  });
}
