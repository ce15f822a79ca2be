import {
  AreaSeries,
  ColorType,
  CrosshairMode,
  createChart,
  type IChartApi,
  type ISeriesApi,
  LineStyle,
  type UTCTimestamp,
} from 'lightweight-charts';

/** The drawing itself, loaded when the first chart is shown. */

export interface Point {
  /** Epoch seconds. */
  readonly t: number;
  readonly pips: number;
}

export interface Drawing {
  show(points: readonly Point[]): void;
  /** The last point, or one after it. */
  add(point: Point): void;
  /** Colours are those of the style sheet. */
  recolour(): void;
  remove(): void;
}

const toTime = (t: number): UTCTimestamp =>
  // The library knows no time zones: shifted, the axis shows the reader's own.
  (t - new Date(t * 1_000).getTimezoneOffset() * 60) as UTCTimestamp;
const toBar = ({ t, pips }: Point) => ({ time: toTime(t), value: pips / 100 });

export function draw(element: HTMLElement): Drawing {
  const chart = createChart(element, {
    autoSize: true,
    layout: {
      attributionLogo: false,
      fontSize: 12,
      background: { type: ColorType.Solid, color: 'transparent' },
    },
    rightPriceScale: { borderVisible: false, scaleMargins: { top: 0.12, bottom: 0.08 } },
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
    localization: { priceFormatter: (value: number) => `${Math.round(value * 10) / 10}%` },
  });
  const series = chart.addSeries(AreaSeries, {
    lineWidth: 2,
    priceLineVisible: false,
    lastValueVisible: true,
    priceFormat: {
      type: 'custom',
      minMove: 0.01,
      formatter: (value: number) => `${Math.round(value * 10) / 10}%`,
    },
    autoscaleInfoProvider: (
      original: () => { priceRange: { minValue: number; maxValue: number } | null } | null,
    ) => widened(original()),
  });
  recolour(element, chart, series);
  return {
    show(points) {
      series.setData(points.map(toBar));
      chart.timeScale().fitContent();
    },
    add: (point) => series.update(toBar(point)),
    recolour: () => recolour(element, chart, series),
    remove: () => chart.remove(),
  };
}

const RANGE_MIN = 4;

/** A market that stood still is a line in the middle, not noise across the whole height; never beyond 0 and 100. */
function widened(info: { priceRange: { minValue: number; maxValue: number } | null } | null) {
  if (!info?.priceRange) return info;
  const { minValue, maxValue } = info.priceRange;
  const lacking = Math.max(0, RANGE_MIN - (maxValue - minValue)) / 2;
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
