import type { Timeframe } from 'ctf-exchange-client';
import type { ComponentChildren } from 'preact';

const MEANINGS: Readonly<Record<Timeframe, string>> = {
  '1h': 'hour',
  '6h': '6 hours',
  '1d': 'day',
  '1w': 'week',
  '1m': 'month',
  all: 'whole time',
};

/** The stretch in words, after "the last". */
export const stretchOf = (timeframe: Timeframe): string => MEANINGS[timeframe];

interface TimeframesProps {
  /** The name of the row for a screen reader. */
  readonly label: string;
  readonly from: readonly Timeframe[];
  readonly chosen: Timeframe;
  onChoose(timeframe: Timeframe): void;
  readonly children?: ComponentChildren;
}

/** One button for each time frame. */
export const Timeframes = ({ label, from, chosen, onChoose, children }: TimeframesProps) => (
  <fieldset class="chart-frames" aria-label={label}>
    {from.map((timeframe) => (
      <button
        key={timeframe}
        type="button"
        class="chip"
        aria-pressed={timeframe === chosen}
        title={`The last ${stretchOf(timeframe)}`}
        onClick={() => onChoose(timeframe)}
      >
        {timeframe}
      </button>
    ))}
    {children}
  </fieldset>
);
