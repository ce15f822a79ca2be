import { tell } from '../../support/telling';
import { definitionsOf } from './quint';
import { type Model, search, told } from './search';
import type { QuintMap, QuintRecord } from './values';

/** The model of docs/inside/model.md, and the scopes in which it is searched. */
export const model: Model = definitionsOf(['scopes', 'initial', 'following', 'violated', 'stuck']);
export const scopes = new Map(
  [...(model.scopes as QuintMap).items.values()].map(([name, scope]) => [
    name as string,
    scope as QuintRecord,
  ]),
);
export const scopeOf = (name: string): QuintRecord => {
  const found = scopes.get(name);
  if (found === undefined) throw new Error(`no scope ${name}`);
  return found;
};

/** No scope has more. */
export const STATES_MAX = 400_000;

/** Searched only in the long form: each has more than LARGE_STATES. */
export const LARGE = [
  ...['calm', 'nonce', 'two', 'unequal', 'home', 'wallets', 'home fails twice', 'third fails', 'any fails'],
  ...['cancel', 'nonce twice', 'nonce home', 'target fails', 'no barrier', 'late clock'],
];
export const LARGE_STATES = 1_500;

/** Expects that no promise is broken in any state of the scope. Returns the number of its states. */
export function searchWhole(name: string): number {
  const { states, steps, violations, trace, isWhole } = search(model, scopeOf(name), STATES_MAX);
  tell(`transfers, ${name}: ${states} states, at most ${steps} steps away`);
  expect([violations, told(trace)]).toEqual([[], []]);
  expect([isWhole, states > 90]).toEqual([true, true]);
  return states;
}
