import { openStore } from '../../src/app/store';
import { loadConfig } from '../../src/config/load';
import type { Market } from '../../src/exchange/facts';
import { createChores } from '../../src/jobs/chores';
import { createReconciler } from '../../src/jobs/reconcile';
import { createLogger } from '../../src/log';
import { createCandleWriter } from '../../src/store/candles/writer';
import { partAt } from '../../src/store/lists/list';
import { createAgenda } from '../../src/store/markets/agenda';
import { createOutbox } from '../../src/store/outbox/outbox';
import type { MatchRef } from '../../src/store/records/settlement';
import { createRaisedNonces } from '../../src/store/verbs/invalidate';
import { type Settling, startSettling } from './settling';

/** Enough that the damaged one is rarely the last of a set. */
const HEALTHY = 8;

let world: Settling;
let store: Awaited<ReturnType<typeof openStore>>;
let spoilt: Market;
let healthy: Market[];

beforeEach(async () => {
  world = await startSettling();
  const config = loadConfig({ NODE_ENV: 'test', REDIS_URL: world.server.url });
  store = await openStore(config, createLogger({ ...config, logLevel: 'silent' }, 'worker'));
  spoilt = await world.createMarket();
  healthy = [];
  for (let i = 0; i < HEALTHY; i++) healthy.push(await world.createMarket());
});
afterEach(async () => {
  store?.close();
  await world?.stop();
});

/** As the worker runs it. */
function run(name: string): Promise<void> {
  const chore = createChores({
    ...store,
    agenda: createAgenda(store),
    outbox: createOutbox(store),
    candles: createCandleWriter(store),
    raisedNonces: createRaisedNonces(store),
  }).find((one) => one.name === name);
  if (!chore) throw new Error(`there is no chore ${name}`);
  return chore.run();
}

const spoil = () => world.redis.hset(world.keys.market(spoilt.terms.id), 's', 'not a state');
const failure = (name: string): string => `1 failed, the others are done: ${name}: `;

async function stateOf({ terms }: Market): Promise<{ status: string; levels: number }> {
  const { status, bids, asks } = (await store.reads.view(terms.id)).state;
  return { status, levels: bids.length + asks.length };
}
const states = () => Promise.all(healthy.map(stateOf));
const all = <T>(value: T): T[] => healthy.map(() => value);

test('a market with a damaged state keeps no other market from closing, and is named', async () => {
  for (const [i, market] of [spoilt, ...healthy].entries()) {
    await world.place(market, 0, 4_000, 10);
    // The damaged one is due first.
    const due = ({ terms, texts }: Market): Market => ({ terms, texts: { ...texts, closesAtMs: 1 + i } });
    await store.engine.editMarket(market.terms.id, due, 'PAUSED');
  }
  await spoil();
  await expect(run('close-markets')).rejects.toThrow(failure(`market ${spoilt.terms.id}`));
  expect(await states()).toEqual(all({ status: 'CLOSED', levels: 0 }));
});

test('a market with a damaged state keeps no other market from being wound up, and is named', async () => {
  for (const market of [spoilt, ...healthy]) {
    await world.place(market, 0, 4_000, 10);
    await store.engine.moveMarket(market.terms.id, 'CLOSED', ['OPEN']);
  }
  expect(await states()).toEqual(all({ status: 'CLOSED', levels: 1 }));
  await spoil();
  await expect(run('wind-up-markets')).rejects.toThrow(failure(`market ${spoilt.terms.id}`));
  expect(await states()).toEqual(all({ status: 'CLOSED', levels: 0 }));
});

test('a wallet with an order in a damaged market keeps no other wallet’s old orders open, and is named', async () => {
  const [stuck = '', other = ''] = world.wallets;
  await world.place(spoilt, 0, 4_000, 10, stuck);
  for (const market of healthy) await world.place(market, 0, 4_000, 10, other);
  for (const wallet of [stuck, other]) await store.engine.raiseNonce(wallet, `raise ${wallet}`);
  await spoil();
  await expect(run('invalidate-orders')).rejects.toThrow(failure(stuck));
  expect(await states()).toEqual(all({ status: 'OPEN', levels: 0 }));
  expect([...(await createRaisedNonces(store)())]).toEqual([[stuck, 1]]);
});

test('a market whose matches cannot be read keeps no other market from being settled, and is named', async () => {
  for (const market of [spoilt, ...healthy]) await world.match(market);
  const trades = world.keys.trades(spoilt.terms.id);
  await world.redis.del(trades);
  await world.redis.set(trades, 'not a stream');
  const found: MatchRef[] = [];
  const reconciler = createReconciler({
    matches: partAt(store.partitions, 0).matches,
    now: () => Date.now() + 6_000,
    enqueue: async (refs) => void found.push(...refs),
  });
  await expect(reconciler.run()).rejects.toThrow(failure(`market ${spoilt.terms.id}`));
  expect(found.map(({ marketId }) => marketId).sort()).toEqual(healthy.map(({ terms }) => terms.id).sort());
});
