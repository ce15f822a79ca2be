import { createLogger } from '../../src/log';
import { createDeadMansSwitch } from '../../src/realtime/sockets/dead-mans-switch';
import { createPresence } from '../../src/store/people/presence';
import { addressBytes } from '../../src/store/records/order';
import { createScripts } from '../../src/store/redis/scripts';
import { place } from '../support/engine-order';
import { until } from '../support/waiting';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** The wallets that lose their sockets together, and the orders of each. */
const WALLETS = Number(process.env.ABSENT_WALLETS ?? 400);
const ORDERS = 3;
const LEASE = 'lease-of-the-test';
const MARKET = { id: 'market00' };

let exchange: WebReplicas;
beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 0, durable: true });
});
afterAll(() => exchange.stop());

const addressOf = (i: number): string => `0x${(i + 1).toString(16).padStart(40, '0')}`;
const openOf = (address: string): Promise<number> =>
  exchange.store.redis.zcount(exchange.store.keys.wallet(addressBytes(address)), '(0', '+inf');

/** The presence tracking of the broadcasting process, which has the sockets of the wallets `here`. */
function switchWith(
  here: readonly string[],
  term: () => { readonly sinceMs: number } = () => ({ sinceMs: 0 }),
) {
  const presence = createPresence({ run: createScripts(exchange.store.redis), keys: exchange.store.keys });
  const log = createLogger({ logLevel: 'silent', secrets: [] }, 'web', { write: () => undefined });
  return createDeadMansSwitch({
    presence,
    engine: exchange.store.engine,
    log,
    wallets: () => here,
    held: () => ({ token: LEASE, ...term() }),
  });
}

/** Gone, each a moment after the one before. */
async function leave(addresses: readonly string[]): Promise<void> {
  const presence = createPresence({ run: createScripts(exchange.store.redis), keys: exchange.store.keys });
  for (const address of addresses) await presence.mark([address], 1);
}

test(`the last of ${WALLETS} absent wallets, which returns while the others are swept, keeps its old and new orders`, async () => {
  const { engine, redis, keys } = exchange.store;
  await engine.createMarket({ id: MARKET.id, conditionId: '0x00', slug: MARKET.id }, '{}', 'OPEN');
  const addresses = Array.from({ length: WALLETS }, (_, i) => addressOf(i));
  const last = addressOf(WALLETS - 1);
  for (const maker of addresses) {
    await Promise.all(Array.from({ length: ORDERS }, () => place(exchange, MARKET, { maker })));
  }
  await leave(addresses);
  await redis.set(keys.lease, LEASE);
  const here: string[] = [];
  const deadMansSwitch = switchWith(here);
  deadMansSwitch.start();
  try {
    await until('the first is swept', async () => (await openOf(addressOf(0))) === 0);
    await deadMansSwitch.arm(last);
    here.push(last);
    await place(exchange, MARKET, { maker: last });
    await until('all others are swept', async () => (await redis.zcard(keys.absences)) === 1);
    expect(await openOf(last)).toBe(ORDERS + 1);
    const left = await Promise.all(addresses.slice(0, -1).map(openOf));
    expect(left.filter((open) => open > 0)).toEqual([]);
  } finally {
    await deadMansSwitch.stop();
  }
});

test('a wallet whose orders cannot be cancelled keeps no other wallet’s orders open', async () => {
  const { engine, redis, keys } = exchange.store;
  const market = { id: 'market01' };
  await engine.createMarket({ id: market.id, conditionId: '0x01', slug: market.id }, '{}', 'OPEN');
  const [spoilt, sound] = [addressOf(WALLETS), addressOf(WALLETS + 1)];
  for (const maker of [spoilt, sound]) await place(exchange, market, { maker });
  // The wallet has less than its orders reserved.
  await redis.hset(keys.cash, addressBytes(spoilt), Buffer.alloc(24));
  await leave([spoilt, sound]);
  await redis.set(keys.lease, LEASE);
  const deadMansSwitch = switchWith([]);
  deadMansSwitch.start();
  try {
    await until('the other is swept', async () => (await openOf(sound)) === 0);
    expect(await openOf(spoilt)).toBe(1);
  } finally {
    await deadMansSwitch.stop();
  }
});

test('a process that has just begun to broadcast waits for the replicas to report their sockets', async () => {
  const { engine, redis, keys } = exchange.store;
  const market = { id: 'market02' };
  await engine.createMarket({ id: market.id, conditionId: '0x02', slug: market.id }, '{}', 'OPEN');
  const [connected, gone] = [addressOf(WALLETS + 2), addressOf(WALLETS + 3)];
  for (const maker of [connected, gone]) await place(exchange, market, { maker });
  await leave([connected, gone]);
  await redis.set(keys.lease, LEASE);
  const here: string[] = [];
  const term = { sinceMs: Number.POSITIVE_INFINITY };
  let sweeps = 0;
  const deadMansSwitch = switchWith(here, () => {
    sweeps++;
    return term;
  });
  deadMansSwitch.start();
  try {
    await until('several sweeps have begun', () => sweeps > 3);
    here.push(connected);
    term.sinceMs = performance.now();
    await until('the other is swept', async () => (await openOf(gone)) === 0);
    expect(await openOf(connected)).toBe(1);
  } finally {
    await deadMansSwitch.stop();
  }
});
