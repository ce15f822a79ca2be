import {
  type AutoscaleInfo,
  ColorType,
  createSeriesMarkers,
  type IChartApi,
  type IPriceLine,
  type ISeriesApi,
  LineStyle,
  type SeriesMarker,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts';
import type { Lines, Point } from './chart-canvas';
import { EDGE_PIPS, PIPS_ONE, WHOLE_CENT_PIPS as PIPS_PER_POINT, percent } from './units';

/** What the small chart and the traders' chart share: scale, colours, and the marks of the wallet. */

/** A label of the scale, as every chance on the page is written. */
export const labelOf = (value: number): string =>
  // The library may choose steps of 2.5 points.
  percent(Math.round(value * PIPS_PER_POINT), Number.isInteger(value) ? PIPS_PER_POINT : 1);
const labelOfFine = (value: number): string => percent(Math.round(value * PIPS_PER_POINT), 1);
export const formatOf = (minMove: number) => ({
  type: 'custom' as const,
  minMove,
  formatter: minMove < 1 ? labelOfFine : labelOf,
});

/** Two labels never read the same: the scale has steps of a point where labels have no decimal. */
export function stepOf(points: readonly Point[], tickPips: number): number {
  const isEdge = points.some(({ pips }) => pips < EDGE_PIPS || pips > PIPS_ONE - EDGE_PIPS);
  return tickPips < PIPS_PER_POINT || isEdge ? 0.1 : 1;
}

export const toTime = (t: number): UTCTimestamp =>
  // The library has no time zones: with shifted times, the axis shows the reader's own.
  (t - new Date(t * 1_000).getTimezoneOffset() * 60) as UTCTimestamp;
export const toBar = ({ t, pips }: Point) => ({ time: toTime(t), value: pips / 100 });

/** The wallet's part of a chart: lines for open orders, arrows where it traded; `endAt` marks the end of the chart. */
export function createMarks(
  element: HTMLElement,
  series: ISeriesApi<'Area' | 'Candlestick'>,
  times: () => readonly number[],
  endAt: (last: UTCTimestamp) => SeriesMarker<Time> | null,
) {
  let lines: Lines = { orders: [], fills: [] };
  let drawn: IPriceLine[] = [];
  const markers = createSeriesMarkers(series, []);
  const colour = colourOf(element);

  function refresh(): void {
    const known = times();
    const own = lines.fills.flatMap(({ t, isBuy }): SeriesMarker<Time>[] => {
      const at = known.findLast((time) => time <= toTime(t));
      if (at === undefined) return [];
      const [position, shape] = isBuy
        ? (['belowBar', 'arrowUp'] as const)
        : (['aboveBar', 'arrowDown'] as const);
      return [{ time: at as UTCTimestamp, position, shape, color: colour(isBuy ? '--yes' : '--no') }];
    });
    const last = known.at(-1);
    const end = last === undefined ? null : endAt(last as UTCTimestamp);
    markers.setMarkers([...own, ...(end ? [end] : [])].sort((a, b) => Number(a.time) - Number(b.time)));
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

/** A colour of the style sheet. */
export const colourOf =
  (element: HTMLElement) =>
  (name: string): string =>
    getComputedStyle(element).getPropertyValue(name).trim();

/** What both charts have of their layout. */
export const LAYOUT = {
  attributionLogo: false,
  fontSize: 12,
  background: { type: ColorType.Solid, color: 'transparent' },
} as const;

/** What both charts have of the scale of chances; `widened` leaves the room. */
export const SCALE = {
  borderVisible: false,
  entireTextOnly: true,
  minimumWidth: 48,
  scaleMargins: { top: 0.02, bottom: 0.02 },
} as const;

/** What the series of both charts have in common. */
export const SERIES = {
  priceLineVisible: false,
  // It would cover the labels of the scale; the title has it.
  lastValueVisible: false,
  priceFormat: formatOf(1),
  autoscaleInfoProvider: (original: () => AutoscaleInfo | null) => widened(original()),
} as const;

/** Colours of the theme for scales, grid and crosshair. */
export function recolourChart(element: HTMLElement, chart: IChartApi): void {
  const colour = colourOf(element);
  chart.applyOptions({
    layout: { textColor: colour('--muted'), fontFamily: getComputedStyle(element).fontFamily },
    grid: { horzLines: { color: colour('--line') } },
    crosshair: { vertLine: { color: colour('--muted'), labelBackgroundColor: colour('--chart-label') } },
  });
}

const RANGE_MIN = 4;
/** Room above and below the line, as a part of its height. */
const ROOM = 0.15;

/** A constant price is a line in the middle, not noise across the whole height; the scale never exceeds 0 and 100. */
function widened(info: AutoscaleInfo | null): AutoscaleInfo | null {
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
