import { createHash } from 'node:crypto';
import type { RunningRedis } from '../../../src/local/redis';
import { createOrderHints } from '../../../src/store/verbs/order-hints';
import { startTestRedis } from '../../support/redis';
import { openShardWorld, type ShardWorld, walletWithHome } from './world';

/** A process remembers in which shard an order is by a part of its hash, and finds it also when another order has the same part. */
const alice = walletWithHome(0, 4);
const SAME = 'a1b2c3d4e5f6';
const hashOf = (n: number): string =>
  `0x${SAME}${createHash('sha256').update(`hints ${n}`).digest('hex').slice(SAME.length)}`;
let server: RunningRedis;
let w: ShardWorld;
beforeAll(async () => {
  server = await startTestRedis();
  w = await openShardWorld({ urls: [server.url], count: 4 });
});
afterAll(async () => {
  w.stop();
  await server.stop();
});

test('an order is cancelled without its market while a later order of another shard has its place', async () => {
  const [first, second] = [hashOf(1), hashOf(2)];
  await w.exchange.place(w.order(1, alice, 0, 0, 5_000, 200, { orderHash: first }));
  await w.exchange.place(w.order(2, alice, 0, 0, 5_000, 200, { orderHash: second }));
  for (const hash of [first, second])
    expect(await w.exchange.cancel(null, alice, hash, 'USER')).toMatchObject({ cancelled: true });
  await expect(w.exchange.cancel(null, alice, hashOf(3), 'USER')).rejects.toMatchObject({
    code: 'ORDER_NOT_FOUND',
  });
  expect(await w.exchange.collateral(alice)).toEqual({ freeMicro: 100_000_000, reservedMicro: 0 });
  expect(await w.differences()).toEqual([]);
});

test('a hint is that of the last order in its place', () => {
  const hints = createOrderHints();
  const [own, other] = [`0x00000001${'0'.repeat(56)}`, `0x00000002${'0'.repeat(56)}`];
  expect(hints.of(own)).toBeNull();
  hints.note(own, 0);
  expect([hints.of(own), hints.of(other)]).toEqual([0, null]);
  hints.note(other, 63);
  expect([hints.of(own), hints.of(other)]).toEqual([null, 63]);
});
