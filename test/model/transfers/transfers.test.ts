import { LARGE, LARGE_STATES, model, STATES_MAX, scopeOf, scopes, searchWhole } from './scopes';
import { search } from './search';
import type { QuintRecord, Value } from './values';

/** The promises of docs/inside/model.md about transfers between shards, checked in every state of each scope. */
test.each([...scopes.keys()].filter((name) => !LARGE.includes(name)))(
  'in no state of the scope "%s" is a promise broken',
  (name) => {
    expect(searchWhole(name)).toBeLessThanOrEqual(LARGE_STATES);
  },
);

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
