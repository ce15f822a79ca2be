import type { MarketStatus, OutcomeIndex } from '../../../src/exchange/market';
import type { Mode } from '../../../src/exchange/status';
import type { Random } from '../../support/random';
import type { Operation } from './operations';

/** The actions of operators and the worker on a market, and the mode of all of them. */
export type MarketStep =
  | {
      readonly kind: 'move';
      readonly market: number;
      readonly to: MarketStatus;
      readonly from: readonly MarketStatus[];
    }
  | { readonly kind: 'clear'; readonly market: number; readonly most: number }
  | { readonly kind: 'resolve'; readonly market: number; readonly outcome: OutcomeIndex | null }
  | { readonly kind: 'pay'; readonly market: number; readonly most: number }
  | { readonly kind: 'mode'; readonly mode: Mode };

export const STEP_WEIGHTS = { pause: 0.5, close: 0, clear: 0.3, move: 0.2, resolve: 0, pay: 0.3, mode: 0.3 };
/** Towards the end of a world its markets end, too. */
export const ENDING_WEIGHTS = { close: 1, clear: 3, resolve: 2, pay: 5, mode: 0.6 };
export type StepKind = keyof typeof STEP_WEIGHTS;

/** `others` gives some operations of any kind. */
export function marketSteps(
  kind: StepKind,
  random: Random,
  market: number,
  others: () => Operation[],
): Operation[] {
  const open: MarketStep = { kind: 'move', market, to: 'OPEN', from: ['PAUSED', 'DRAFT'] };
  const most = random.pick([1, 3, 200]);
  switch (kind) {
    case 'pause':
      return [{ kind: 'move', market, to: 'PAUSED', from: ['OPEN'] }, ...others(), open];
    case 'move':
      return [open];
    case 'close':
      return [{ kind: 'move', market, to: 'CLOSED', from: ['OPEN', 'PAUSED'] }];
    case 'clear':
      return [{ kind: 'clear', market, most }];
    case 'resolve': {
      const end: Operation = { kind: 'resolve', market, outcome: random.pick([0, 1, null]) };
      const pay = (count: number): Operation => ({ kind: 'pay', market, most: count });
      const few = Array.from({ length: random.int(0, 2) }, () => pay(random.int(1, 2)));
      if (random.chance(0.2)) return [end];
      return [end, { kind: 'clear', market, most: 200 }, ...few, ...(random.chance(0.8) ? [pay(200)] : [])];
    }
    case 'pay':
      return [{ kind: 'pay', market, most }];
    case 'mode': {
      const mode = random.pick(['CANCEL_ONLY', 'HALTED'] as const);
      return [{ kind: 'mode', mode }, ...others(), { kind: 'mode', mode: 'NORMAL' }];
    }
  }
}
