import type { Answer } from '../support/client';
import { createRandom } from '../support/random';
import { tell } from '../support/telling';
import { sleep, until } from '../support/waiting';
import { BACK_MS } from './asking';
import { expectRest, follow } from './followers';
import { violationsOf } from './invariants';
import { startLoad } from './load';
import { slowDisk } from './slow-disk';
import { startTradingFleet, type TradingFleet, type TradingFleetOptions } from './trading-fleet';

/** Tests one promise at a time, with counts. docs/run/faults.md has figures of larger ones. */
const ORDERS = Number(process.env.FAULT_ORDERS ?? 1_500);
const KILLS = Number(process.env.FAULT_KILLS ?? 3);
const REPLIES = Number(process.env.FAULT_REPLIES ?? 40);
const REQUESTS = Number(process.env.FAULT_RESTARTS ?? 800);
const LANES = 8;
const AT_ONCE = 20;
/** Sockets at each process while it is replaced. */
const FOLLOWERS = 2;
/** A balancer that probes on a busy machine notices within this time that a process leaves. */
const DRAIN_MS = 8_000;
/** The 20,000 orders of the long form take a while. */
const STORY_MS = 1_200_000;

async function withStage(
  options: TradingFleetOptions,
  story: (stage: TradingFleet) => Promise<void>,
): Promise<void> {
  const stage = await startTradingFleet(options);
  try {
    await story(stage);
  } finally {
    await stage.stop();
  }
}

const median = (list: readonly number[]): number => [...list].sort((a, b) => a - b)[list.length >> 1] ?? 0;

test(
  `of ${ORDERS} orders with Redis killed ${KILLS} times on a slow disk, no acknowledged one is lost`,
  async () => {
    const { env, isSlow } = slowDisk();
    await withStage({ seed: 'redis kills', webs: 1, redis: { env } }, async (stage) => {
      const { journal, markets, people, client, fleet } = stage;
      const random = createRandom(11);
      const load = startLoad(journal, { random, markets, people, client, lanes: LANES, most: 2 * ORDERS });
      const acknowledged = (): number => journal.submissions.filter((one) => one.accepted.length > 0).length;
      const backMs: number[] = [];
      for (let kill = 1; kill <= KILLS; kill++) {
        await until('orders between kills', () => acknowledged() >= (kill * ORDERS) / (KILLS + 1), {
          patienceMs: STORY_MS,
        });
        await fleet.redis.kill();
        await sleep(random.below(300));
        await fleet.redis.revive();
        const startedAt = Date.now();
        const order = people[0]?.sign(markets[0] as (typeof markets)[0], {
          side: 'BUY',
          outcome: 0,
          pips: 100,
          lots: 100,
          expiration: 0,
        });
        const path = `/markets/${markets[0]?.id}/orders?dryRun=true`;
        await until(
          'back',
          async () => (await client().post(path, { body: { order: order?.wire } })).status === 200,
        );
        backMs.push(Date.now() - startedAt);
      }
      await until('all acknowledged', () => acknowledged() >= ORDERS, { patienceMs: STORY_MS });
      await load.stop();
      const violations = violationsOf(await stage.evidence());
      tell(
        `${acknowledged()} orders acknowledged over ${KILLS} kills of Redis (${isSlow ? '5 ms a sync' : 'disk as it is'}), ` +
          `${violations.length} violations; back to the first order in ${median(backMs)} ms (median), ${Math.max(...backMs)} ms (most)`,
      );
      expect(violations.slice(0, 20)).toEqual([]);
      expect(journal.wrong).toEqual([]);
      expect(Math.max(...backMs)).toBeLessThan(BACK_MS);
    });
  },
  STORY_MS,
);

test(`${REPLIES} lost replies are resolved to one execution each`, async () => {
  await withStage({ seed: 'lost replies', markets: 1, workers: 0 }, async ({ fleet, markets, people }) => {
    const [doomed, other] = fleet.webs;
    const [market] = markets;
    const [person] = people;
    if (!other || !market || !person) throw new Error('no stage');
    const path = `/markets/${market.id}/orders`;
    const wish = { side: 'BUY', outcome: 0, pips: 2_000, lots: 100, expiration: 0 } as const;
    const executed = async (): Promise<number> =>
      (await other.client.get(`/markets/${market.id}/orderbook`)).body.sequence;
    // Redis knows the script from now on.
    await other.client.post(path, { body: { order: person.sign(market, wish).wire } });
    const before = await executed();
    let ran = 0;
    for (let done = 0; done < REPLIES; done += AT_ONCE) {
      const orders = Array.from({ length: Math.min(AT_ONCE, REPLIES - done) }, () =>
        person.sign(market, wish),
      );
      const { link } = doomed;
      // Slow, so that all have read before the first is booked.
      link.delay(100);
      link.holdRepliesFrom(orders.map(({ orderHash }) => Buffer.from(orderHash.slice(2), 'hex')));
      const lost = await Promise.all(
        orders.map(({ wire }) => doomed.client.post(path, { body: { order: wire } })),
      );
      link.heal();
      expect(new Set(lost.map(({ status }) => status))).toEqual(new Set([503]));
      expect(lost.every(({ headers }) => headers.has('retry-after'))).toBe(true);
      const booked = (await executed()) - before - done;
      expect(booked).toBeGreaterThan(0);
      ran += booked;
      const again: Answer[] = [];
      for (const { wire } of orders) again.push(await other.client.post(path, { body: { order: wire } }));
      expect(again.every(({ status }) => status === 200)).toBe(true);
      expect(new Set(again.map(({ body }) => body.sequence)).size).toBe(orders.length);
      expect(again.filter(({ headers }) => headers.get('idempotent-replayed') === 'true').length).toBe(
        booked,
      );
      expect((await executed()) - before).toBe(done + orders.length);
    }
    tell(`${REPLIES} replies lost, ${ran} of them after the order was booked: ${REPLIES} executions`);
  });
}, 300_000);

test(`none of ${REQUESTS} requests during a rolling restart fails, and followed books reconnect by themselves`, async () => {
  await withStage(
    { seed: 'rolling', webs: 3, markets: 1, env: { DRAIN_MS: String(DRAIN_MS) } },
    async ({ fleet, markets, people }) => {
      const [market] = markets;
      if (!market) throw new Error('no market');
      const ready = new Set(fleet.webs);
      const leaving = new Set<unknown>();
      let over = false;
      // Like a load balancer: it checks whether each process is ready, and sends requests to ready ones.
      const probing = (async () => {
        while (!over) {
          for (const web of fleet.webs) {
            const status = web.isUp() ? (await web.client.get('/readyz').catch(() => null))?.status : 0;
            if (status === 200) ready.add(web);
            else ready.delete(web);
          }
          await sleep(100);
        }
      })();
      const random = createRandom(5);
      const failed: string[] = [];
      let count = 0;
      const lane = async (): Promise<void> => {
        while (count < REQUESTS || leaving.size < fleet.webs.length) {
          count++;
          while (ready.size === 0) await sleep(10);
          const web = random.pick([...ready]);
          const wish = {
            side: 'BUY',
            outcome: random.below(2) as 0 | 1,
            pips: 100 * (40 + random.below(20)),
            lots: 100,
            expiration: 0,
          } as const;
          const answer =
            random.next() < 0.5
              ? await web.client.get(`/markets/${market.id}/orderbook`).catch(String)
              : await web.client
                  .post(`/markets/${market.id}/orders`, {
                    body: { order: random.pick(people).sign(market, wish).wire },
                  })
                  .catch(String);
          if (typeof answer === 'string' || answer.status !== 200) {
            failed.push(typeof answer === 'string' ? answer : `${answer.status} ${answer.text}`);
          }
          await sleep(2);
        }
      };
      const followers = fleet.webs.flatMap(({ client: { url } }) =>
        Array.from({ length: FOLLOWERS }, () => follow(url, market.conditionId)),
      );
      await until('all follow', async () => followers.every(({ book }) => book.state === 'live'));
      const lanes = Promise.all(Array.from({ length: 4 }, lane));
      const exits: unknown[] = [];
      const endedMs: number[] = [];
      for (const web of fleet.webs) {
        const startedAt = Date.now();
        exits.push(await web.end());
        endedMs.push(Date.now() - startedAt);
        await web.start();
        leaving.add(web);
      }
      await lanes;
      over = true;
      await probing;
      for (const one of followers) await expectRest(fleet.webs[0].client, market.id, one);
      for (const one of followers) one.stop();
      tell(
        `rolling restart of 3: ${failed.length} of ${count} requests failed, exits after ${endedMs.join(', ')} ms; ` +
          `${followers.length} followed books came back, after ${followers.map(({ updates }) => updates()).join(', ')} updates`,
      );
      // A process that does not end in its own time exits with 1.
      expect(exits).toEqual([0, 0, 0]);
      expect(failed).toEqual([]);
      expect(followers.flatMap(({ wrong }) => wrong)).toEqual([]);
      expect(followers.every(({ reconnects, updates }) => reconnects() > 0 && updates() > 0)).toBe(true);
    },
  );
}, 300_000);
