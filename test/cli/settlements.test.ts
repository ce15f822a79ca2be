import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { verifyTypedData } from 'ethers';
import { openStore } from '../../src/app/store';
import { EIP712_ORDER_TYPES } from '../../src/auth/order-hash';
import { MATCH_ORDERS } from '../../src/chain/match-orders';
import { loadConfig } from '../../src/config/load';
import { createSettle } from '../../src/jobs/settle';
import { createLogger } from '../../src/log';
import { partAt } from '../../src/store/lists/list';
import { type Answer, patiently } from '../support/client';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, type Domain, domainOf, type Limit, openMarket, type Trader } from '../support/trader';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';
import { createShell } from './shell';

let exchange: WebReplicas;
let shell: ReturnType<typeof createShell>;
let domain: Domain;
let folder: string;
beforeAll(async () => {
  exchange = await startWebReplicas();
  shell = createShell(exchange.redis.url);
  domain = await domainOf(exchange.client);
  folder = mkdtempSync(path.join(tmpdir(), 'exchange-cli-'));
});
afterAll(async () => {
  await exchange?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Settles the matches, as a worker with or without a chain. */
async function settle(marketId: string, status: 'CONFIRMED' | 'MATCHED'): Promise<void> {
  const config = loadConfig({ NODE_ENV: 'test', REDIS_URL: exchange.redis.url });
  const store = await openStore(config, createLogger({ ...config, logLevel: 'silent' }, 'test'));
  try {
    const entries = await store.redis.xrange(store.keys.trades(marketId), '-', '+');
    const refs = entries.map(([id]) => {
      const [tradeMs = 0, sequence = 0] = id.split('-').map(Number);
      return { marketId, tradeMs, sequence };
    });
    const termsOf = async () => {
      const market = await store.reads.market(marketId);
      if (!market) throw new Error('no market');
      return market.terms;
    };
    const record: typeof store.settlements.record = (list) => store.settlements.record(list, status);
    await createSettle({
      ...store,
      matches: partAt(store.partitions, 0).matches,
      settlements: { ...store.settlements, record },
      termsOf,
    })(refs);
  } finally {
    store.close();
  }
}

/** Alice buys 40 Yes from Bob's 100 No and Carla's 10 Yes. */
async function trade() {
  const { client } = exchange;
  const market = await openMarket(client, ADMIN_TOKEN);
  const [alice, bob] = [createTrader(client, domain), createTrader(client, domain)];
  // A busy machine may be late with an order; the same one is booked once.
  const place = async (trader: Trader, limit: Limit): Promise<Answer> => {
    const body = { order: await trader.order(market, limit) };
    return patiently(() => client.post(`/markets/${market.id}/orders`, { body }));
  };
  await place(bob, { side: 'BUY', outcome: 1, pips: 4_500, lots: 2_000 });
  await place(bob, { side: 'BUY', outcome: 1, pips: 4_200, lots: 10_000 });
  const taken = await place(alice, { side: 'BUY', outcome: 0, pips: 6_000, lots: 4_000 });
  expect(taken.body.fills).toHaveLength(2);
  return { market, alice, bob, taken };
}

test('the export contains the calldata that the exchange contract accepts, with the signatures', async () => {
  const { market, alice, bob } = await trade();
  await settle(market.id, 'CONFIRMED');
  const { out, code } = await shell.exchange('settlements', 'export', '--market', market.id, '--calldata');
  expect(code).toBe(0);
  const [line, ...others] = out
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text));
  expect(others).toEqual([]);
  const { to, data, ...record } = line;
  const listed = await exchange.client.get(`/admin/settlements?marketId=${market.id}`, {
    token: ADMIN_TOKEN,
  });
  expect(record).toEqual(listed.body.data[0]);
  expect(to).toBe(domain.verifyingContract);

  // The selector of the contract's own interface.
  expect(data.slice(0, 10)).toBe('0xe60f0c05');
  const [taker, makers, takerFill, makerFills] = MATCH_ORDERS.decodeFunctionData('matchOrders', data);
  const recovered = [taker, ...makers].map((order) => {
    const { signature, ...fields } = order.toObject();
    return verifyTypedData({ ...domain }, EIP712_ORDER_TYPES, fields, signature);
  });
  expect(recovered).toEqual([alice.address, bob.address, bob.address]);
  expect([taker, ...makers].map((order) => order.maker)).toEqual(recovered);
  // 20 at 0.55, 20 at 0.58: Bob pays 0.45 and 0.42; Alice pays her limit and gets the difference back.
  const e18 = 10n ** 18n;
  expect(takerFill).toBe(24n * e18);
  expect([...makerFills]).toEqual([9n * e18, (84n * e18) / 10n]);
  const paid = takerFill - BigInt(record.refundAmount);
  expect(paid + makerFills[0] + makerFills[1]).toBe(40n * e18);
});

test('an unconfirmed settlement is exported, acknowledged once, and shown', async () => {
  const { market, taken } = await trade();
  await settle(market.id, 'MATCHED');
  const exported = async (...words: string[]): Promise<Record<string, unknown>[]> => {
    const { out } = await shell.exchange('settlements', 'export', '--market', market.id, ...words);
    return out === ''
      ? []
      : out
          .trimEnd()
          .split('\n')
          .map((text) => JSON.parse(text));
  };
  expect(await exported('--status', 'CONFIRMED')).toEqual([]);
  const [waiting] = await exported();
  const id = String(waiting?.id);
  const tx = `0x${'ab'.repeat(32)}`;
  const said = await shell.exchange(
    'settlements',
    'acknowledge',
    id,
    '--tx',
    tx.toUpperCase().replace('0X', '0x'),
    '--yes',
  );
  expect(said).toEqual({ code: 0, err: '', out: `${id} CONFIRMED by ${tx}\n` });
  expect((await exported('--status', 'CONFIRMED'))[0]).toMatchObject({ id, transactionHash: tx });
  const order = await exchange.client.get(`/orders/${taken.body.orderHash}`);
  expect(order.body.fills[0]).toMatchObject({ settlementStatus: 'CONFIRMED', transactionHash: tx });

  expect((await shell.exchange('settlements', 'acknowledge', id, '--tx', tx, '--yes')).code).toBe(0);
  const other = await shell.exchange(
    'settlements',
    'acknowledge',
    id,
    '--tx',
    `0x${'cd'.repeat(32)}`,
    '--yes',
  );
  expect([other.code, other.err]).toEqual([
    3,
    `error: INVALID_REQUEST: the settlement is already CONFIRMED by ${tx}; it keeps that hash\n`,
  ]);
  expect((await shell.exchange('audit')).code).toBe(0);
});

test('a settlement of paper funds accepts a transaction hash once', async () => {
  const { market } = await trade();
  await settle(market.id, 'CONFIRMED');
  const file = path.join(folder, 'settlements.ndjson');
  const said = await shell.exchange('settlements', 'export', '--market', market.id, '--output', file);
  expect(said).toEqual({ code: 0, err: '', out: `1 settlements in ${file}\n` });
  const { id } = JSON.parse(readFileSync(file, 'utf8'));
  const again = await shell.exchange('settlements', 'export', '--output', file);
  expect([again.code, again.out]).toEqual([3, '']);
  const [first, second] = [`0x${'11'.repeat(32)}`, `0x${'22'.repeat(32)}`];
  expect((await shell.exchange('settlements', 'acknowledge', id, '--tx', first, '--yes')).code).toBe(0);
  expect((await shell.exchange('settlements', 'acknowledge', id, '--tx', second, '--yes')).code).toBe(3);
});
