import { Refusal } from '../../../src/exchange/errors';
import type { OutcomeIndex } from '../../../src/exchange/market';
import type { Side } from '../../../src/exchange/match';
import type { SweepFilter, SweepStep, WalkPlace } from '../../../src/store/verbs/sweeps';
import type { Place } from '../../model/sweep';
import { createRandom } from '../../support/random';
import { check } from './check';
import type { World } from './operations';
import { addressOf, marketOf } from './requests';
import type { SideBySide } from './side-by-side';

/** The next bounded step of cancelling a wallet's orders, of the walk in progress or of a new one. */
export interface SweepOperation {
  readonly kind: 'sweep';
  readonly wallet: number;
  /** Null for all of them; the same for outcome and side. */
  readonly market: number | null;
  readonly outcome: OutcomeIndex | null;
  readonly side: Side | null;
  readonly look: number;
}

/** A walk in progress, in the terms of the engine and of the model. */
export interface SweepWalk {
  readonly op: SweepOperation;
  readonly from: WalkPlace;
  readonly place: Place;
}

/** Drawn from the operation's number, so that the draws of other operations do not change. */
export function sweepOf(at: number, market: number, wallet: number): SweepOperation {
  const random = createRandom(at);
  return {
    kind: 'sweep',
    wallet,
    market: random.chance(0.7) ? market : null,
    outcome: random.chance(0.3) ? random.pick([0, 1] as const) : null,
    side: random.chance(0.3) ? random.pick([0, 1] as const) : null,
    look: random.pick([1, 2, 4, 1_000, 1_000]),
  };
}

export function filterOf(world: World, { market, outcome, side }: SweepOperation): SweepFilter {
  return {
    ...(market === null ? {} : { marketId: marketOf(world, market).id }),
    ...(outcome === null ? {} : { outcome }),
    ...(side === null ? {} : { side }),
  };
}

export async function performSweep(stage: SideBySide, drawn: SweepOperation): Promise<void> {
  const { engine, model, world, sweeps, toldNow, count } = stage;
  const walk = sweeps.get(drawn.wallet);
  const op = { ...(walk?.op ?? drawn), look: drawn.look };
  const who = addressOf(op.wallet);
  const market = op.market === null ? null : marketOf(world, op.market).id;
  const { outcome, side } = op;
  let got: SweepStep | null = null;
  try {
    got = await engine.sweep(who, filterOf(world, op), walk?.from, op.look);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return check('refusal of a sweep', model.mode(), error.code);
  }
  check('a sweep in this mode', true, model.mode() !== 'HALTED');
  const expected = model.sweep(who, { market, outcome, side }, walk?.place ?? null, op.look, await toldNow());
  const hashes = expected.cancelled.map(({ request }) => request.orderHash);
  check('orders of a sweep', hashes.sort().join(), [...got.cancelled].sort().join());
  check('numbers of a sweep', text(expected.numbers), text(got.sequences));
  // The engine counts every order that has left Redis, whatever its rank was.
  const left = got.next === null ? 0 : (stage.oblivion?.above(who, Number(got.next.rank)) ?? 0);
  const next = got.next && { ...got.next, behind: got.next.behind - left };
  check('where a sweep goes on', flat(expected.next), flat(next));
  if (expected.beganAgain) count('a sweep began again');
  if (hashes.length > 0) count(got.next ? 'swept in part' : 'swept');
  if (expected.next && got.next) sweeps.set(op.wallet, { op, from: got.next, place: expected.next });
  else sweeps.delete(op.wallet);
}

const text = (numbers: ReadonlyMap<string, number>): string => JSON.stringify([...numbers].sort());
const flat = (place: WalkPlace | Place | null): string =>
  JSON.stringify(place && [Number(place.rank), place.behind]);
