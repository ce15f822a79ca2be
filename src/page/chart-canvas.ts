import {
  AreaSeries,
  CrosshairMode,
  createChart,
  type IChartApi,
  type ISeriesApi,
  LineStyle,
} from 'lightweight-charts';
import {
  colourOf,
  createMarks,
  formatOf,
  LAYOUT,
  labelOf,
  recolourChart,
  SCALE,
  SERIES,
  stepOf,
  toBar,
  toTime,
} from './chart-parts';

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

export function draw(element: HTMLElement, onHover: (point: Point | null) => void): Drawing {
  const chart = createChart(element, {
    autoSize: true,
    layout: LAYOUT,
    rightPriceScale: SCALE,
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
  const series = chart.addSeries(AreaSeries, { ...SERIES, lineWidth: 2 });
  recolour(element, chart, series);
  const shown = new Map<number, Point>();
  chart.subscribeCrosshairMove(({ time }) => onHover(shown.get(Number(time ?? 0)) ?? null));
  // The library keeps the width of its bars, so a narrower window would lose the newest.
  const fit = new ResizeObserver(() => chart.timeScale().fitContent());
  fit.observe(element);
  const marks = createMarks(
    element,
    series,
    () => [...shown.keys()],
    (time) => ({
      time,
      position: 'inBar',
      shape: 'circle',
      color: colourOf(element)('--chart-line'),
      size: 0.6,
    }),
  );
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

function recolour(element: HTMLElement, chart: IChartApi, series: ISeriesApi<'Area'>): void {
  recolourChart(element, chart);
  const colour = colourOf(element);
  series.applyOptions({
    lineColor: colour('--chart-line'),
    topColor: colour('--chart-top'),
    bottomColor: colour('--chart-bottom'),
  });
}
