import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ChainExchange, type ChainTrader, startChainExchange } from '../../support/chain-exchange';
import { ADMIN_TOKEN } from '../../support/settings';
import { type OpenMarket, openMarket } from '../../support/trader';
import { until as waitUntil } from '../../support/waiting';

/** The steps of "After a restore" in docs/run/chain.md, with a real backup, while the chain went on. The tests build on each other. */
const PATIENCE_MS = 90_000;

let exchange: ChainExchange;
let folder: string;
let market: OpenMarket;
let alice: ChainTrader;
let bob: ChainTrader;
/** Alice's order that rests in the backup, of which the chain fills a part afterwards. */
let resting = '';
/** The market that is not in the backup. */
let lost: OpenMarket;
let lanes: { address: string; state: string }[] = [];

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'exchange-restored-'));
  exchange = await startChainExchange();
  alice = await exchange.newTrader();
  bob = await exchange.newTrader();
});
afterAll(async () => {
  await exchange?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const until: typeof waitUntil = (what, holds) =>
  waitUntil(what, holds, {
    patienceMs: PATIENCE_MS,
    pollMs: 250,
    explain: () => exchange.logged.slice(-5).join('\n'),
  });
const file = (): string => path.join(folder, 'copy');
const balancesOf = async (trader: ChainTrader) => (await trader.get('/me/balances')).body;
const statusOf = async ({ id }: OpenMarket) => (await exchange.client.get(`/markets/${id}`)).body.status;
const orderNow = async (trader: ChainTrader, hash: string) => (await trader.get(`/orders/${hash}`)).body;

async function submit(trader: ChainTrader, where: OpenMarket, limit: Parameters<ChainTrader['order']>[1]) {
  const { body } = await exchange.client.post(`/markets/${where.id}/orders`, {
    body: { order: await trader.order(where, limit) },
  });
  if (!body.orderHash) throw new Error(`the order was refused: ${JSON.stringify(body)}`);
  return body;
}

const untilEnded = (what: string, trader: ChainTrader, hash: string, status: string) =>
  until(`${what} is ${status}`, async () => {
    const { fills } = await orderNow(trader, hash);
    return (
      fills.length > 0 &&
      fills.every((fill: { settlementStatus: string }) => fill.settlementStatus === status)
    );
  });

/** Alice buys No, and bob Yes; resolves when that is final. */
async function tradeOn(where: OpenMarket, lots: number): Promise<void> {
  await submit(alice, where, { side: 'BUY', outcome: 1, pips: 4_000, lots });
  const { orderHash } = await submit(bob, where, { side: 'BUY', outcome: 0, pips: 6_000, lots });
  await untilEnded('the trade', bob, orderHash, 'CONFIRMED');
}

async function openFinally(): Promise<OpenMarket> {
  const made = await openMarket(exchange.client, ADMIN_TOKEN);
  await until('the market is open', async () => (await statusOf(made)) === 'OPEN');
  return made;
}

test('a backup is made without a worker, while an order rests', async () => {
  const { chain } = (await exchange.client.get('/config')).body;
  for (const trader of [alice, bob]) {
    await trader.post('/me/faucet');
    await until('the faucet has paid', async () => (await balancesOf(trader)).collateral.total === '10000');
    await trader.send(chain.approvals);
    await until(
      'the approvals are final',
      async () => (await balancesOf(trader)).approvals.collateral.enough,
    );
  }
  market = await openFinally();
  await tradeOn(market, 1_000);
  resting = (await submit(alice, market, { side: 'BUY', outcome: 1, pips: 4_000, lots: 10_000 })).orderHash;
  await exchange.rest();
  const { code, err } = await exchange.shell.exchange('backup', file(), '--halt');
  expect([code, err]).toEqual([0, '']);
  await exchange.work();
});

test('matches, a fill of that order and a whole market come after it', async () => {
  const { orderHash } = await submit(bob, market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 9_000 });
  await untilEnded('the fill of the resting order', bob, orderHash, 'CONFIRMED');
  lost = await openFinally();
  await tradeOn(lost, 500);
});

test('after the restore the exchange is halted, and its lanes send nothing', async () => {
  await exchange.leave();
  const said: string[] = [];
  // The lease of a process that was stopped lasts some seconds.
  await waitUntil(
    'the backup is restored',
    async () => {
      const { code, err, out } = await exchange.shell.exchange('restore', file(), '--force', '--yes');
      said.push(`${code} ${err}${out}`);
      return code === 0;
    },
    { patienceMs: PATIENCE_MS, pollMs: 2_000, explain: () => said.join('\n') },
  );
  await exchange.enter();
  await until('the worker names the lost settlements', () =>
    exchange.logged.some((line) => line.includes('the chain settled matches that the books lack')),
  );
  expect((await exchange.shell.json('chain', 'status')).mode).toBe('HALTED');
  await until('the lanes that sent something are AHEAD', async () => {
    lanes = (await exchange.shell.json('chain', 'lanes')).filter(
      ({ state }: { state: string }) => state === 'AHEAD',
    );
    return lanes.length > 0;
  });
  expect((await exchange.shell.exchange('audit')).code).toBe(0);
});

test('lanes are adopted, and wallets have what the chain gave them', async () => {
  for (const { address } of lanes)
    expect((await exchange.shell.exchange('chain', 'adopt', address, '--yes')).code).toBe(0);
  const { code } = await exchange.shell.exchange('mode', 'NORMAL');
  expect(code).toBe(0);
  bob = await exchange.newTrader(bob.wallet);
  alice = await exchange.newTrader(alice.wallet);
  await until('the balances are those of the chain', async () => {
    const { collateral } = await balancesOf(bob);
    return collateral.total === '9937';
  });
});

test('a lost market that is created again for the same question has the tokens that wallets hold', async () => {
  expect((await exchange.client.get(`/markets/${lost.id}`)).body.code).toBe('MARKET_NOT_FOUND');
  const again = await openMarket(exchange.client, ADMIN_TOKEN, { questionId: lost.questionId });
  expect(again.conditionId).toBe(lost.conditionId);
  await until('the market is open', async () => (await statusOf(again)) === 'OPEN');
  await until('the tokens are in the balances', async () => {
    const { tokens } = await balancesOf(bob);
    return tokens.some(
      ({ marketId, total }: { marketId: string; total: string }) => marketId === again.id && total === '5',
    );
  });
});

test('a match of an order that lost matches filled ends as FAILED, and every wallet keeps its funds', async () => {
  const { orderHash } = await submit(bob, market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 5_000 });
  await untilEnded('the match', bob, orderHash, 'FAILED');
  expect((await balancesOf(bob)).collateral).toMatchObject({
    total: '9937',
    available: '9937',
    unsettled: '0',
  });
  expect((await orderNow(alice, resting)).failedSize).toBe('50');
});

test('new matches settle, also where they have the numbers of lost ones', async () => {
  await alice.post(`/markets/${market.id}/orders/cancel-all`);
  const ends: string[] = [];
  for (let turn = 0; turn < 6 && ends.at(-1) !== 'CONFIRMED'; turn++) {
    await submit(alice, market, { side: 'BUY', outcome: 1, pips: 4_000, lots: 100 });
    const { orderHash } = await submit(bob, market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 100 });
    await until('the match has ended', async () => {
      const [fill] = (await orderNow(bob, orderHash)).fills;
      if (!/CONFIRMED|FAILED/.test(fill.settlementStatus)) return false;
      ends.push(fill.settlementStatus);
      return true;
    });
  }
  expect(ends.at(-1)).toBe('CONFIRMED');
  expect((await exchange.shell.exchange('audit')).code).toBe(0);
  expect((await exchange.shell.json('chain', 'status')).mode).toBe('NORMAL');
});
