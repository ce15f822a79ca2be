import { freshSeed, tell } from '../../support/telling';
import { simulate } from './quint';
import { LARGE, LARGE_STATES, model, searchWhole } from './scopes';
import { idOf, ofTrace, type QuintRecord, type QuintSet, type Value } from './values';

/** The large scopes, and the search compared with Quint's simulator, which takes ten seconds to start. */
const TRACES = 2;
const STEPS_MAX = 20;

test.each(LARGE)('in no state of the large scope "%s" is a promise broken', (name) => {
  expect(searchWhole(name)).toBeGreaterThan(LARGE_STATES);
});

test("each step of Quint's own simulator is one of as many steps that the search finds", () => {
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
