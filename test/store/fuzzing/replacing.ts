import { createRandom, type Random } from '../../support/random';
import type { Operation, Place } from './operations';

/** The number of earlier orders that may be replaced. */
const REACH = 40;

/**
 * The submission, after those `placed`; now and then as the replacement of an earlier order, mostly of its own market and
 * wallet, and perhaps sent twice. Some meet the other side of the book, on which the earlier order rests.
 */
function inPlaceOf(random: Random, place: Place, placed: Place[]): Operation[] {
  const replaces = random.chance(0.15);
  const turns = replaces && random.chance(0.4);
  const resting = ({ market, type, side, outcome }: Place): boolean =>
    (market === place.market || random.chance(0.05)) &&
    (!turns || (side === outcome) !== (place.side === place.outcome)) &&
    (type === 'GTC' || type === 'POST_ONLY' || random.chance(0.2));
  const earlier = replaces ? placed.slice(-REACH).filter(resting) : [];
  const old = earlier.length > 0 ? random.pick(earlier) : null;
  const wallet = old && random.chance(0.9) ? old.wallet : place.wallet;
  const size = turns && 'lots' in place.size ? { lots: place.size.lots * random.int(1, 6) } : place.size;
  const own = { ...place, wallet, size };
  placed.push(own);
  if (!old) return [own];
  const replace: Operation = { kind: 'replace', of: old.id, place: own };
  return random.chance(0.15) ? [replace, replace] : [replace];
}

/** Uses a separate generator, so that everything else in a world is the same with and without it. */
export function createReplacing(seed: number) {
  const random = createRandom(seed ^ 0x4e7);
  return (operation: Operation, placed: Place[]): Operation[] =>
    operation.kind === 'place' ? inPlaceOf(random, operation, placed) : [operation];
}
