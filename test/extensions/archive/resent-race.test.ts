import { connect, ready } from '../../../src/store/redis/connection';
import { createScripts } from '../../../src/store/redis/scripts';
import { createEngine, type Engine } from '../../../src/store/verbs/engine';
import type { PlaceRequest } from '../../../src/store/verbs/place';
import { withWorlds } from '../../store/engine/setup';
import { FAKE_CLOCK, patchedScripts } from '../../store/fuzzing/scripts';
import { alice, parseMicro } from '../../support/engine-world';
import { sizeOf } from '../../support/sample';
import { archivingIn, cancelled, KEEP_MS, YES } from './archiving';

/** Orders that are sent again while they leave for the archive. */
const { world, redis: server } = withWorlds();
const { archiving } = archivingIn(world);

const PROCESSES = 2;
const READY_MS = 5_000;
const ORDERS = sizeOf('RESENT_ORDERS', 300, 1_500);
const STEP = 100;
const order = (): PlaceRequest => world().buy(alice, YES, '1', '0.01');

test(`${PROCESSES} processes send ${ORDERS} orders again while they leave: none runs twice`, async () => {
  await world().market();
  const { open, archivedReads, engine, stored, forgetting } = archiving();
  await open();
  const connections = Array.from({ length: PROCESSES }, () => connect({ urls: [server().url] }));
  await Promise.all(connections.map((redis) => ready(redis, READY_MS)));
  const engines = connections.map((redis) =>
    createEngine({
      run: createScripts(redis, patchedScripts([FAKE_CLOCK])),
      grantMicro: parseMicro('10000'),
      makersMax: 500,
      archivedReads,
    }),
  );
  const sent: PlaceRequest[] = [];
  const again: boolean[] = [];
  let isOver = false;
  /** Old orders in any order, those that leave just now more often, and new ones. */
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
  isOver = true;
  await Promise.all(resending);
  expect(again.length).toBeGreaterThan(ORDERS / 10);
  expect(again.filter((replayed) => !replayed)).toEqual([]);
  const everywhere = await Promise.all(sent.map((one) => engines[0]?.place(one)));
  for (const redis of connections) redis.disconnect();
  expect(everywhere.filter((answer) => !answer?.replayed)).toEqual([]);
}, 300_000);
