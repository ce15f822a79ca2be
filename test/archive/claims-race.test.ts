import { createTraceClaims } from '../../src/store/archive/trace-claims';
import { connect, ready } from '../../src/store/redis/connection';
import { createScripts } from '../../src/store/redis/scripts';
import { createEngine, type Engine } from '../../src/store/verbs/engine';
import type { PlaceRequest } from '../../src/store/verbs/place';
import { withWorlds } from '../store/engine/setup';
import { FAKE_CLOCK, type Patch, patchedScripts } from '../store/fuzzing/scripts';
import { alice, parseMicro } from '../support/engine-world';
import { EAGER } from '../support/trace-claims';
import { until } from '../support/waiting';
import { archivingIn, cancelled, KEEP_MS, YES } from './archiving';

/** Processes that follow the traces of a market while these change under them. */
const { world, redis: server } = withWorlds();
const { archiving } = archivingIn(world);

const MARKET = 'market00';
const PROCESSES = 2;
const READY_MS = 5_000;
/** CLAIM_ORDERS makes it longer. */
const ORDERS = Number(process.env.CLAIM_ORDERS ?? 1_500);
const STEP = 100;
const order = (): PlaceRequest => world().buy(alice, YES, '1', '0.01');

test(`${PROCESSES} processes send ${ORDERS} orders again while they leave: none runs twice`, async () => {
  await world().market();
  const { open, past, engine, stored, forgetting } = archiving();
  await open();
  const { keys } = world();
  const connections = Array.from({ length: PROCESSES }, () => connect({ urls: [server().url] }));
  await Promise.all(connections.map((redis) => ready(redis, READY_MS)));
  let claimed = 0;
  const engines = connections.map((redis) => {
    const run = createScripts(redis, patchedScripts([FAKE_CLOCK]));
    const claims = createTraceClaims({ run, keys, limits: EAGER });
    return createEngine({
      ...{ run, grantMicro: parseMicro('10000'), makersMax: 500, past },
      claims: {
        claim(...of) {
          const field = claims.claim(...of);
          claimed += field ? 1 : 0;
          return field;
        },
      },
    });
  });
  const sent: PlaceRequest[] = [];
  const again: boolean[] = [];
  let isOver = false;
  /** Old orders in any order, those that leave just now more often; and new ones, which make the claims. */
  async function resend(own: Engine): Promise<void> {
    for (let i = 0; !isOver; i++) {
      const newest = Math.floor(Math.random() ** 3 * sent.length);
      const old = sent[sent.length - 1 - newest];
      if (old) again.push((await own.place(old)).replayed);
      if (i % 3 === 0) await own.cancel(null, alice, (await own.place(order())).record.orderHash, 'USER');
    }
  }
  const resending = engines.map(resend);
  for (let from = 0; from < ORDERS; from += STEP) {
    const part = Array.from({ length: STEP }, () => order());
    for (const one of part) await cancelled(engine, one);
    sent.push(...part);
    await world().clock(world().now() + KEEP_MS);
    expect((await forgetting.move('the test', { orders: await stored(part) })).orders).toBe(STEP);
  }
  const before = claimed;
  const isClaimed = until('orders claim again', async () => claimed > before + PROCESSES);
  await Promise.race([isClaimed, ...resending]);
  isOver = true;
  await Promise.all(resending);
  expect(again.length).toBeGreaterThan(ORDERS / 10);
  expect(again.filter((replayed) => !replayed)).toEqual([]);
  const everywhere = await Promise.all(sent.map((one) => engines[0]?.place(one)));
  for (const redis of connections) redis.disconnect();
  expect(everywhere.filter((answer) => !answer?.replayed)).toEqual([]);
}, 300_000);

const STAMPED: Patch = {
  file: 'lib/traces.lua',
  from: "return struct.pack('>I4I4', tonumber(digest:sub(1, 8), 16), tonumber(digest:sub(9, 16), 16))",
  to: "return struct.pack('>I4I4', #digest, 0)",
};

/** All that is in Redis. */
async function copied(): Promise<(readonly [key: Buffer, value: Buffer])[]> {
  const { redis } = world();
  const names = await redis.keysBuffer('*');
  return Promise.all(names.map(async (key) => [key, (await redis.dumpBuffer(key)) as Buffer] as const));
}

/**
 * A Redis loses its latest writes, and others take their place: as many traces, of other orders. Returns whether an order that left
 * then is known to a process that knew the traces before the loss.
 */
async function isKnownBehindALoss(patches: readonly Patch[]): Promise<boolean> {
  const { redis, keys } = world();
  await world().market();
  const run = createScripts(redis, patchedScripts([FAKE_CLOCK, ...patches]));
  const { open, past, stored, forgetting, engine, claims } = archiving(undefined, run);
  await open();
  const [first, lost, kept] = [order(), order(), order()];
  for (const one of [first, lost, kept]) await cancelled(engine, one);
  await world().clock(world().now() + KEEP_MS);
  await forgetting.move('the test', { orders: await stored([first]) });
  const before = await copied();
  await forgetting.move('the test', { orders: await stored([lost]) });
  const field = await redis.hgetBuffer(keys.market(MARKET), 'g');
  await until('the traces are known', async () =>
    Boolean(claims.claim(MARKET, order().orderHash, 0)?.equals(field as Buffer)),
  );
  const claim = claims.claim(MARKET, kept.orderHash, 0);
  expect(claim).toEqual(field);
  await redis.flushall();
  for (const [key, value] of before) await redis.restore(key, 0, value);
  await forgetting.open();
  await forgetting.move('the test', { orders: await stored([kept]) });
  const late = createEngine({
    ...{ run, keys, grantMicro: parseMicro('10000'), makersMax: 500, past, claims: { claim: () => claim } },
  });
  return (await late.place(kept)).replayed;
}

test('the same number of traces in another history of the market is another set: the stamps differ', async () => {
  expect(await isKnownBehindALoss([])).toBe(true);
});

test('without stamps that differ an order would run twice', async () => {
  expect(await isKnownBehindALoss([STAMPED])).toBe(false);
});
