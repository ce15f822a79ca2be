import { mkdirSync, rmSync } from 'node:fs';
import { type DurableRedis, startDurableRedis } from '../../support/durable-redis';
import type { Trader } from '../../support/trader';
import { type FaultWorld, startFaultWorld } from './fault-world';

/**
 * Faults of Redis, on an exchange as it is deployed: whatever it forgets, no match is sent to the chain twice. The tests build on
 * each other, because each one ends with another Redis.
 */
const LIMIT_MS = 600_000;
const KILLS = 3;

let faults: FaultWorld;
let alice: Trader;
let bob: Trader;
let redis: DurableRedis;
const others: DurableRedis[] = [];

beforeAll(async () => {
  faults = await startFaultWorld();
  redis = faults.redis;
  [alice, bob] = [await faults.readyTrader(), await faults.readyTrader()];
}, LIMIT_MS);
afterEach(() => faults?.goOn());
afterAll(async () => {
  await faults?.stop();
  for (const other of others) await other.stop();
});

const epoch = async (): Promise<string> => (await faults.client.get('/readyz')).body?.epoch;
const isBack = (): Promise<void> =>
  faults.until('the exchange answers again', async () => (await faults.client.get('/readyz')).status === 200);
const match = (): Promise<string> => faults.match(alice, bob);
const sent = (id: string): Promise<void> =>
  faults.until('its transaction is sent', () => faults.sentWith(id).length > 0);

/** Neither the same nonce nor another one has settled it, or would, a second time. */
function expectSentOnce(...ids: readonly string[]): void {
  const nonces = (id: string) =>
    new Set(faults.sentWith(id).map(({ from, nonce }) => `${from} ${nonce}`)).size;
  expect(ids.map((id) => [id, nonces(id)])).toEqual(ids.map((id) => [id, 1]));
}

async function replicate(): Promise<DurableRedis> {
  const replica = await startDurableRedis({ appendonly: 'always' });
  others.push(replica);
  await replica.ask(`REPLICAOF 127.0.0.1 ${redis.port}`);
  await faults.until('the replica has everything', async () =>
    (await replica.ask('INFO replication')).includes('master_link_status:up'),
  );
  await redis.copied();
  await replica.written();
  return replica;
}

function serve(other: DurableRedis): void {
  redis = other;
  faults.link.retarget(other.port);
  faults.link.cut();
}

test(
  'a Redis that is killed while matches are on their way forgets none of them',
  async () => {
    const before = await epoch();
    const ids: string[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      ids.push(await match());
      await redis.kill();
      await redis.revive();
      await isBack();
    }
    for (const id of ids) await faults.is(id, 'CONFIRMED');
    expectSentOnce(...ids);
    expect(await epoch()).toBe(before);
    expect([...faults.watch.violations, ...(await faults.check())]).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'a replica that takes over with everything settles what is on its way, once',
  async () => {
    const replica = await replicate();
    const before = await epoch();
    await faults.halt();
    const id = await match();
    await sent(id);
    await redis.copied();
    await redis.kill();
    await replica.ask('REPLICAOF NO ONE');
    serve(replica);
    await isBack();
    expect(await epoch()).not.toBe(before);
    faults.goOn();
    await faults.is(id, 'CONFIRMED');
    expectSentOnce(id);
    expect([...faults.watch.violations, ...(await faults.check())]).toEqual([]);
  },
  LIMIT_MS,
);

/** Settlements that Redis may have forgotten. */
const lost: string[] = [];
const isHalted = (): Promise<void> => faults.until('the exchange is halted', () => faults.isMode('HALTED'));

test(
  'a replica that lacks settled matches halts the exchange and sends nothing, until an operator adopts what the chain has',
  async () => {
    const replica = await replicate();
    process.kill(replica.pid, 'SIGSTOP');
    const id = await match();
    await faults.is(id, 'CONFIRMED');
    lost.push(...faults.watch.all().map((one) => one.id));
    faults.watch.forget();
    await Promise.all([redis.kill(), replica.kill()]);
    await replica.revive();
    serve(replica);
    await isHalted();
    expect((await faults.config()).message).toContain(id);
    await faults.until('a lane is ahead', async () => (await lanes()).some(({ state }) => state === 'AHEAD'));
    const sends = faults.nodes.proxies.map(({ broadcasts }) => broadcasts.length);
    const refused = await faults.submit(alice, { side: 'BUY', outcome: 1, pips: 4_000, lots: 100 });
    expect(refused.body).toMatchObject({ status: 503, code: 'HALTED' });
    expect(faults.nodes.proxies.map(({ broadcasts }) => broadcasts.length)).toEqual(sends);
    await adopt();
    expect((await faults.shell.exchange('mode', 'NORMAL')).code).toBe(0);
    expectSentOnce(id);
  },
  LIMIT_MS,
);

interface ShownLane {
  readonly address: string;
  readonly state: string;
  readonly nextNonce: number;
}
const lanes = (): Promise<ShownLane[]> => faults.shell.json('chain', 'lanes');

/** As docs/run/chain.md says, until every lane has the nonce of the chain. */
async function adopt(): Promise<void> {
  const isRight = async ({ address, state, nextNonce }: ShownLane): Promise<boolean> => {
    if (state === 'AHEAD') await faults.shell.exchange('chain', 'adopt', address, '--yes');
    const used = await faults.nodes.ask('eth_getTransactionCount', address, 'finalized');
    return state === 'RUNNING' && nextNonce === Number(used);
  };
  await faults.until('every lane goes on', async () => {
    const all = await Promise.all((await lanes()).map(isRight));
    return all.length > 0 && !all.includes(false);
  });
}

/** With markets of their own, because the numbers of lost matches are free again. */
async function tradeOn(): Promise<void> {
  await faults.openAnother();
  for (const one of [alice, bob]) await one.signIn();
  const next = await match();
  await faults.is(next, 'CONFIRMED');
  expectSentOnce(next);
  expect([...faults.watch.violations, ...(await faults.check(lost))]).toEqual([]);
}

test('after that matches settle, and the books are those of the chain', tradeOn, LIMIT_MS);

test(
  'an empty Redis is another epoch, and a match that it lost halts the exchange when the chain settles it',
  async () => {
    const before = await epoch();
    await faults.halt();
    const id = await match();
    await sent(id);
    lost.push(...faults.watch.all().map((one) => one.id));
    await redis.kill();
    rmSync(redis.folder, { recursive: true });
    mkdirSync(redis.folder);
    await redis.revive();
    await faults.until('the loss is noticed', async () =>
      String((await faults.client.get('/readyz')).body.detail).includes('lost its data'),
    );
    expect((await faults.shell.exchange('accept-loss', '--yes')).code).toBe(0);
    await isBack();
    expect(await epoch()).not.toBe(before);
    faults.watch.forget();
    faults.goOn();
    await isHalted();
    expect((await faults.config()).message).toContain(id);
    expectSentOnce(id);
    await adopt();
    expect((await faults.shell.exchange('mode', 'NORMAL')).code).toBe(0);
    await tradeOn();
  },
  LIMIT_MS,
);
