import { model, STATES_MAX, scopeOf } from './scopes';
import { search } from './search';

/** Proves that the search can fail: it finds each of these bugs of the model. */
const UNJUST = 'a refusal that no order of the commands justifies';
const TWICE = 'a channel is broken in spite of the barrier';
const NO_BIT = 'a shard with an account has no bit';
const STALE = 'a nonce below the raised one was accepted';

test.each([
  ['mark not compared', 'two', TWICE],
  ['hold ignored', 'calm', 'a command was given up without a fault'],
  ['nonce of the donor', 'nonce', STALE],
  ['bitmap before the raise', 'nonce', STALE],
  ['sent and got not compared', 'unequal', UNJUST],
  ['bit after the send', 'calm', NO_BIT],
  ['a silent shard counts as empty', 'two', UNJUST],
  ['a reader waits without a write', 'donor fails', TWICE],
  ['wait on a new connection', 'donor fails', TWICE],
  ['bit not waited for', 'home fails', NO_BIT],
  ['only a new bit waited for', 'home fails', NO_BIT],
  ['a bit trusted that is not safe', 'home fails twice', NO_BIT],
  ['looks past the hold', 'home', 'a command was given up without a fault'],
  ['noted after the look', 'nonce twice', STALE],
])('the planted bug "%s" is found', (bug, name, violation) => {
  const { violations } = search(model, { ...scopeOf(name), bug }, STATES_MAX);
  expect(violations).toContain(violation);
});
