import { freshSeed, tell } from '../../support/telling';
import { simulate } from './quint';
import { model, STATES_MAX, scopeOf, scopes } from './scopes';
import { search, told } from './search';
import { idOf, ofTrace, type QuintRecord, type QuintSet, type Value } from './values';

/** The promises of docs/model.md about transfers between shards, checked in every state of each scope. */
const TRACES = 2;
const STEPS_MAX = 20;

/** Searched only in the long form: each has more than 8,000 states. */
const LARGE = ['cancel', 'nonce twice', 'nonce home', 'target fails', 'no barrier', 'late clock'];
const isLong = process.env.MODEL_SCOPES === 'all';
/** Quint's simulator takes ten seconds to start. */
const whenLong = isLong ? test : test.skip;
const played = [...scopes.keys()].filter((name) => isLong || !LARGE.includes(name));

test.each(played)('in no state of the scope "%s" is a promise broken', (name) => {
  const { states, steps, violations, trace, isWhole } = search(model, scopeOf(name), STATES_MAX);
  tell(`transfers, ${name}: ${states} states, at most ${steps} steps away`);
  expect([violations, told(trace)]).toEqual([[], []]);
  expect(isWhole).toBe(true);
  expect([states > 90, isLong || states <= 8_000]).toEqual([true, true]);
});

const TWICE = 'a channel is broken in spite of the barrier';

test('without the barrier a failover of a donor makes money, and the worker tells it', () => {
  const scope = { ...scopeOf('donor fails'), barrier: false };
  expect(search(model, scope, STATES_MAX).violations).toEqual([]);
  const { violations } = search({ ...model, violated: neverBroken }, scope, STATES_MAX);
  expect(violations).toEqual([TWICE]);
});

/** The checks as if the barrier had been there. */
function neverBroken(scope: Value, state: Value): Value {
  return model.violated({ ...(scope as QuintRecord), barrier: true }, state);
}

whenLong("each step of Quint's own simulator is one of as many steps that the search finds", () => {
  const seed = process.env.SEED ?? `0x${freshSeed().toString(16)}`;
  tell(`traces of Quint: SEED=${seed} repeats them`);
  let steps = 0;
  for (const { states } of simulate(TRACES, STEPS_MAX, seed)) {
    const trace = states.map((state) => ofTrace(state) as QuintRecord);
    for (const [index, { scope, state, choices }] of trace.entries()) {
      const found = (model.following(scope as Value, state as Value) as QuintSet).items;
      expect(found.size).toBe(choices);
      const after = trace[index + 1]?.state;
      if (after === undefined) continue;
      expect(found.has(idOf(after))).toBe(true);
      steps++;
    }
  }
  expect(steps).toBeGreaterThan(TRACES);
});
