import { idOf, type QuintRecord, QuintSet, type Value } from './values';

/** The definitions of checks.qnt that a search needs. */
export interface Model {
  readonly scopes: Value;
  initial(scope: Value): Value;
  following(scope: Value, state: Value): Value;
  violated(scope: Value, state: Value): Value;
  stuck(scope: Value, state: Value): Value;
}
export interface Found {
  readonly states: number;
  /** The longest of the shortest ways to a state. */
  readonly steps: number;
  /** Empty when all holds in every state. */
  readonly violations: readonly string[];
  /** The states on the shortest way to the violation. */
  readonly trace: readonly Value[];
  readonly isWhole: boolean;
}

const listed = (value: Value): Value[] => [...(value as QuintSet).items.values()];

/** Visits every state that can be reached, the nearest first, and ends at the first violation. */
export function search(model: Model, scope: Value, statesMax: number): Found {
  const first = model.initial(scope);
  const states: Value[] = [first];
  const parents: number[] = [-1];
  const depths: number[] = [0];
  const seen = new Set<number>([idOf(first)]);
  const found = (at: number, violations: readonly string[], isWhole: boolean): Found => {
    const trace: Value[] = [];
    if (violations.length > 0)
      for (let index = at; index >= 0; index = parents[index] ?? -1) trace.unshift(states[index] as Value);
    return { states: states.length, steps: depths.at(-1) ?? 0, violations, trace, isWhole };
  };
  for (let at = 0; at < states.length; at++) {
    const state = states[at] as Value;
    const violations = listed(model.violated(scope, state)) as string[];
    const after = listed(model.following(scope, state));
    if (after.length === 0 && model.stuck(scope, state) === true) violations.push('a command has no answer');
    if (violations.length > 0) return found(at, violations, false);
    for (const next of after) {
      const id = idOf(next);
      if (seen.has(id)) continue;
      if (states.length >= statesMax) return found(at, [], false);
      seen.add(id);
      states.push(next);
      parents.push(at);
      depths.push((depths[at] ?? 0) + 1);
    }
  }
  return found(states.length - 1, [], true);
}

const shown = (value: Value): string =>
  JSON.stringify(value, (_, held) => {
    if (held instanceof QuintSet) return [...held.items.values()];
    return held?.items instanceof Map ? Object.fromEntries([...held.items.values()]) : held;
  });

/** For people: the changes of each step. */
export function told(trace: readonly Value[]): string[] {
  return trace.slice(1).map((state, index) => {
    const lines: string[] = [];
    compare('', trace[index] as Value, state, lines);
    return `${index + 1}. ${lines.join('; ')}`;
  });
}

function compare(at: string, before: Value, after: Value, lines: string[]): void {
  if (idOf(before) === idOf(after)) return;
  const isPlain = (value: Value): boolean =>
    typeof value === 'object' && (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype);
  const [a, b] = [before as QuintRecord, after as QuintRecord];
  if (isPlain(before) && isPlain(after) && Object.keys(a).length === Object.keys(b).length)
    for (const key of Object.keys(b)) compare(`${at}.${key}`, a[key] as Value, b[key] as Value, lines);
  else lines.push(`${at.slice(1)} ${shown(before)} -> ${shown(after)}`);
}
