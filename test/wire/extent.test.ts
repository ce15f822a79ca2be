import { Refusal } from '../../src/exchange/errors';
import { decodeWalk } from '../../src/wire/cursor';
import { batchShape, cancelListShape, emptyShape, submitShape } from '../../src/wire/requests/orders';
import type { Shape } from '../../src/wire/shape';

const strange = (members: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: members }, (_, i) => [`m${i}`, 1]));

function refusal(shape: Shape<unknown>, body: unknown): Refusal {
  try {
    shape.parse(body);
  } catch (error) {
    if (error instanceof Refusal) return error;
  }
  throw new Error('accepted');
}

function cpuMs(work: () => unknown): number {
  const { user } = process.cpuUsage();
  work();
  return (process.cpuUsage().user - user) / 1_000;
}

const ROUNDS = 50;
/** The time of a round, with a refusal and its stack; reading everything took 4 to 60 ms. */
const MS_MAX = 2;

test.each<[string, Shape<unknown>, unknown, string]>([
  ['an order of 1,330 strange members', submitShape, { order: strange(1_330) }, 'order.salt'],
  ['a submission of 1,330 strange members', submitShape, strange(1_330), 'order'],
  ['100,000 orders', batchShape, { orders: Array.from({ length: 100_000 }, () => 1) }, 'orders'],
  ['8,000 hashes', cancelListShape, { orderHashes: Array.from({ length: 8_000 }, () => 1) }, 'orderHashes'],
  ['1,330 members of nothing', emptyShape, strange(1_330), 'm0'],
])('%s are refused at a cost that follows from the shape', (_, shape, body, path) => {
  const { code, extra } = refusal(shape, body);
  const errors = extra.errors as { path: string }[];
  expect([code, errors[0]?.path, errors.length <= 20]).toEqual(['INVALID_REQUEST', path, true]);
  const spent = cpuMs(() => {
    for (let round = 0; round < ROUNDS; round++) refusal(shape, body);
  });
  expect(spent / ROUNDS).toBeLessThan(MS_MAX);
});

test('a batch of 20 such orders costs 20 times as much', () => {
  const bodies = Array.from({ length: 20 }, () => ({ order: strange(1_330) }));
  const spent = cpuMs(() => {
    for (let round = 0; round < 10; round++) for (const body of bodies) refusal(submitShape, body);
  });
  expect(spent / 10).toBeLessThan(20 * MS_MAX);
});

test('one strange member among the right ones is still reported with all faults', () => {
  const { extra } = refusal(submitShape, { orderTpye: 'GTC' });
  expect((extra.errors as { path: string }[]).map(({ path }) => path)).toEqual(['order', 'orderTpye']);
});

test('a forged cursor is refused before it is decoded', () => {
  const cursor = `volume24h.0a.${Buffer.alloc(7_500, 0xff).toString('base64url')}`;
  let refused = 0;
  const spent = cpuMs(() => {
    for (let round = 0; round < ROUNDS; round++) {
      try {
        decodeWalk(cursor, '0a', 'volume24h', 150);
      } catch (error) {
        if (error instanceof Refusal) refused++;
      }
    }
  });
  expect(refused).toBe(ROUNDS);
  expect(spent / ROUNDS).toBeLessThan(MS_MAX);
});
