import type { TargetedMouseEvent } from 'preact';
import { useState } from 'preact/hooks';
import { cents, PIPS_ONE, roughShares, roundly } from '../units';
import type { Row } from './book-rows';

/** Size of the drawing, which the style sheet stretches. */
const WIDTH = 1_000;
const HEIGHT = 400;
/** On both sides of the middle at least as many pips as this, at most as far as the book goes. */
const REACH_MIN = 200;

interface Scale {
  readonly fromPips: number;
  readonly toPips: number;
  readonly mostLots: number;
}

function scaleOf(bids: readonly Row[], asks: readonly Row[]): Scale {
  const prices = [...bids, ...asks].map(({ pips }) => pips);
  return {
    fromPips: Math.max(0, Math.min(...prices) - REACH_MIN),
    toPips: Math.min(PIPS_ONE, Math.max(...prices) + REACH_MIN),
    mostLots: Math.max(...[...bids, ...asks].map(({ depthLots }) => depthLots)),
  };
}

const xOf = (pips: number, { fromPips, toPips }: Scale): number =>
  ((pips - fromPips) / (toPips - fromPips)) * WIDTH;
const yOf = (lots: number, { mostLots }: Scale): number => HEIGHT - (lots / mostLots) * HEIGHT * 0.95;

/** Stairs from the best price outwards: at each price, the shares there and at every better one. */
function stairsOf(rows: readonly Row[], endPips: number, scale: Scale): string {
  let lots = 0;
  const corners = rows.flatMap(({ pips, depthLots }): [number, number][] => {
    const from = lots;
    lots = depthLots;
    return [
      [pips, from],
      [pips, depthLots],
    ];
  });
  return [...corners, [endPips, lots], [endPips, 0]]
    .map(([pips = 0, depth = 0]) => `${xOf(pips, scale).toFixed(1)},${yOf(depth, scale).toFixed(1)}`)
    .join(' ');
}

interface Props {
  readonly bids: readonly Row[];
  readonly asks: readonly Row[];
  readonly name: string;
}

/** How much could be sold below the middle, and bought above it, down to and up to each price. */
export const Depth = ({ bids, asks, name }: Props) => {
  const [pointed, setPointed] = useState<number | null>(null);
  const scale = scaleOf(bids, asks);
  const move = ({ offsetX, currentTarget }: TargetedMouseEvent<SVGSVGElement>): void =>
    setPointed(scale.fromPips + (offsetX / currentTarget.clientWidth) * (scale.toPips - scale.fromPips));
  const total = (rows: readonly Row[]): string => roughShares(rows.at(-1)?.depthLots ?? 0);
  return (
    <div class="depth" data-testid="depth">
      <p class="depth-words">{wordsOf(bids, asks, pointed)}</p>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Depth of ${name}: bids for ${total(bids)} shares, offers of ${total(asks)}`}
        onMouseMove={move}
        onMouseLeave={() => setPointed(null)}
      >
        <polygon class="depth-bids" points={stairsOf(bids, scale.fromPips, scale)} />
        <polygon class="depth-asks" points={stairsOf(asks, scale.toPips, scale)} />
      </svg>
      <p class="depth-scale" aria-hidden="true">
        <span>{cents(scale.fromPips)}</span>
        <span>{cents((scale.fromPips + scale.toPips) / 2)}</span>
        <span>{cents(scale.toPips)}</span>
      </p>
    </div>
  );
};

/** Describes the depth at the price under the pointer, else of the whole book. */
function wordsOf(bids: readonly Row[], asks: readonly Row[], pointed: number | null): string {
  const last = (rows: readonly Row[]): Row | undefined => rows.at(-1);
  const bid = pointed === null ? last(bids) : last(bids.filter(({ pips }) => pips >= pointed));
  const ask = pointed === null ? last(asks) : last(asks.filter(({ pips }) => pips <= pointed));
  const told = [
    bid && `${roughShares(bid.depthLots)} wanted at ${cents(bid.pips)} or more (${roundly(bid.depthMicro)})`,
    ask && `${roughShares(ask.depthLots)} offered at ${cents(ask.pips)} or less (${roundly(ask.depthMicro)})`,
  ];
  return told.filter(Boolean).join(' · ') || 'Nothing between the best prices';
}
