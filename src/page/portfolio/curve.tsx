import type { Portfolio, Timeframe } from 'ctf-exchange-client';
import type { TargetedMouseEvent } from 'preact';
import { useState } from 'preact/hooks';
import { Skeleton } from '../parts/notice';
import { stretchOf, Timeframes } from '../parts/timeframes';
import { dayAndTime, dollars, microOf, signedDollars } from '../units';

const TIMEFRAMES: readonly Timeframe[] = ['1d', '1w', '1m', 'all'];
/** Size of the drawing, which the style sheet stretches. */
const WIDTH = 1_000;
const HEIGHT = 160;
/** A constant value is a line in the middle, not noise across the whole height. */
const RANGE_MIN = 0.01;

interface Point {
  readonly t: number;
  readonly micro: number;
  readonly x: number;
  readonly y: number;
}

function pointsOf(history: Portfolio['history']): Point[] {
  const told = history.map(({ t, value }) => ({ t, micro: microOf(value) }));
  const values = told.map(({ micro }) => micro);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const range = Math.max(most - least, most * RANGE_MIN, 1);
  const floor = (least + most - range) / 2;
  const [first, last] = [told[0]?.t ?? 0, told.at(-1)?.t ?? 0];
  return told.map(({ t, micro }) => ({
    t,
    micro,
    x: last === first ? WIDTH : ((t - first) / (last - first)) * WIDTH,
    y: HEIGHT - ((micro - floor) / range) * HEIGHT,
  }));
}

interface CurveProps {
  readonly worth: Portfolio | null;
  readonly timeframe: Timeframe;
  onTimeframe(timeframe: Timeframe): void;
}

/** The value of the wallet over time, from its first line in the journal. */
export const Curve = ({ worth, timeframe, onTimeframe }: CurveProps) => {
  const [hovered, setHovered] = useState<Point | null>(null);
  const points = worth ? pointsOf(worth.history) : [];
  const [first, last] = [points[0], points.at(-1)];
  const at = hovered ?? last;
  return (
    <section class="card curve" aria-label="Value over time">
      <div class="chart-head">
        <h2 class="chart-title">
          Value
          {at && first && (
            <>
              {' '}
              <strong>{dollars(at.micro)}</strong>
              {at.micro !== first.micro && (
                <span class="chart-change">{signedDollars(at.micro - first.micro)}</span>
              )}
              {hovered && <time class="chart-time">{dayAndTime(hovered.t * 1_000)}</time>}
            </>
          )}
        </h2>
        <Timeframes
          label="Time frame of the value"
          from={TIMEFRAMES}
          chosen={timeframe}
          onChoose={onTimeframe}
        />
      </div>
      {!worth ? (
        <Skeleton rows={5} />
      ) : (
        first && last && <Line points={points} words={wordsOf(timeframe, first, last)} onHover={setHovered} />
      )}
    </section>
  );
};

const wordsOf = (timeframe: Timeframe, first: Point, last: Point): string =>
  `Value over the last ${stretchOf(timeframe)}: from ${dollars(first.micro)} to ${dollars(last.micro)}`;

interface LineProps {
  readonly points: readonly Point[];
  readonly words: string;
  onHover(point: Point | null): void;
}

const Line = ({ points, words, onHover }: LineProps) => {
  // The curve of a new wallet is level.
  const start = `0,${(points[0]?.y ?? 0).toFixed(1)}`;
  const line = [start, ...points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`)].join(' ');
  const move = ({ offsetX, currentTarget }: TargetedMouseEvent<SVGSVGElement>): void => {
    const x = (offsetX / currentTarget.clientWidth) * WIDTH;
    onHover(points.findLast((point) => point.x <= x) ?? points[0] ?? null);
  };
  return (
    <svg
      class="curve-line"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={words}
      data-testid="curve"
      data-points={points.length}
      onMouseMove={move}
      onMouseLeave={() => onHover(null)}
    >
      <polygon points={`0,${HEIGHT} ${line} ${WIDTH},${HEIGHT}`} />
      <polyline points={line} />
    </svg>
  );
};
