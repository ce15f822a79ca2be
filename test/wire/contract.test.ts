import { MARKET } from '../../src/wire/documents/openapi/examples/market';
import { problemExample } from '../../src/wire/documents/openapi/schemas/problems';
import { type Seen, violationsOf } from '../support/contract';

/** Proves that the watch over all tests notices faults: each of these would be one. */
const answer = (body: unknown, more: Partial<Seen> = {}): Seen => ({
  method: 'GET',
  path: '/markets/rain?x=1',
  status: 200,
  headers: new Headers({ 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'a' }),
  text: JSON.stringify(body),
  ...more,
});
const problem = (
  code: Parameters<typeof problemExample>[0],
  status: number,
  more: Partial<Seen> = {},
): Seen =>
  answer(problemExample(code), {
    status,
    headers: new Headers({ 'content-type': 'application/problem+json', 'x-request-id': 'a' }),
    ...more,
  });
const withoutId = new Headers({ 'content-type': 'application/json' });

test.each<[string, Seen]>([
  ['a market', answer(MARKET)],
  ['a documented refusal', problem('MARKET_NOT_FOUND', 404)],
  ['a path that is nowhere', problem('NOT_FOUND', 404, { path: '/nowhere' })],
  [
    'a path with no parameter before one with',
    problem('INVALID_JSON', 400, { method: 'POST', path: '/orders/cancel' }),
  ],
])('%s is as the documents say', (_what, seen) => {
  expect(violationsOf(seen)).toEqual([]);
});

test.each<[string, Seen, RegExp]>([
  ['a member too many', answer({ ...MARKET, surprise: 1 }), /additional properties.*surprise/],
  ['a member too few', answer({ ...MARKET, slug: undefined }), /required property 'slug'/],
  ['a number in place of a decimal', answer({ ...MARKET, volume: 24 }), /volume must be string/],
  ['a price with a zero at its end', answer({ ...MARKET, tickSize: '0.10' }), /must match pattern/],
  ['a time that is none', answer({ ...MARKET, createdAt: 'now' }), /must match format/],
  ['another status', answer(MARKET, { status: 202 }), /status is not documented/],
  ['another media type', answer(MARKET, { headers: new Headers({ 'x-request-id': 'a' }) }), /media type/],
  ['a missing header', answer(MARKET, { headers: withoutId }), /X-Request-Id is missing/],
  ['a code of another operation', problem('ORDER_NOT_FOUND', 404), /ORDER_NOT_FOUND is not documented/],
  ['a code with the wrong status', problem('MARKET_NOT_FOUND', 503), /MARKET_NOT_FOUND is not documented/],
  [
    'a problem with a member of another code',
    problem('MARKET_NOT_FOUND', 404, {
      text: JSON.stringify({ ...problemExample('MARKET_NOT_FOUND'), best: '0.6' }),
    }),
    /additional properties/,
  ],
  [
    'a body where there is none',
    answer({}, { method: 'POST', path: '/auth/logout', status: 204 }),
    /none is documented/,
  ],
  ['an answer at a path that is nowhere', answer({}, { path: '/nowhere' }), /not documented/],
  [
    'a request that is taken and not documented',
    answer({}, { method: 'POST', path: '/orders/cancel', sent: '{"orderHashes":[],"x":1}' }),
    /request: .*additional properties/,
  ],
  ['405 without Allow', problem('METHOD_NOT_ALLOWED', 405, { method: 'DELETE' }), /without Allow/],
])('%s is noticed', (_what, seen, fault) => {
  expect(violationsOf(seen).join('\n')).toMatch(fault);
});
