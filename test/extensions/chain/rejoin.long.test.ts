import { Interface } from 'ethers';
import { type ChainExchange, type ChainTrader, startChainExchange } from '../../support/chain-exchange';
import { ADMIN_TOKEN } from '../../support/settings';
import { type OpenMarket, openMarket } from '../../support/trader';
import { until as waitUntil } from '../../support/waiting';

/** "A final block that was replaced" of docs/run/runbook.md, with the real command line. The tests build on each other. */
const PAYOUTS = new Interface(['function payoutDenominator(bytes32) view returns (uint256)']);
const PATIENCE_MS = 90_000;
/** Deeper than the two blocks of finality. */
const MORE_BLOCKS = 3;

let exchange: ChainExchange;
let market: OpenMarket;
let alice: ChainTrader;
let bob: ChainTrader;
/** The order whose trade the chain forgets; a market of which it forgets the registration, and one of which the result. */
let lost = '';
let opened: OpenMarket;
let ended: OpenMarket;

beforeAll(async () => {
  exchange = await startChainExchange();
  alice = await exchange.newTrader();
  bob = await exchange.newTrader();
});
afterAll(() => exchange?.stop());

const until: typeof waitUntil = (what, holds) =>
  waitUntil(what, holds, {
    patienceMs: PATIENCE_MS,
    pollMs: 250,
    explain: () => exchange.logged.slice(-5).join('\n'),
  });
const status = () => exchange.shell.json('chain', 'status');
const lanes = (): Promise<{ address: string; nextNonce: number; open: number }[]> =>
  exchange.shell.json('chain', 'lanes');
const balancesOf = async (trader: ChainTrader) => (await trader.get('/me/balances')).body;
const fillOf = async (trader: ChainTrader, hash: string) =>
  (await trader.get(`/orders/${hash}`)).body.fills[0];
const refused = async (...words: string[]) => {
  const { code, err } = await exchange.shell.exchange(...words);
  return { code, err };
};

type Limit = Parameters<ChainTrader['order']>[1];
async function submit(trader: ChainTrader, limit: Limit, where = market): Promise<string> {
  const { body } = await exchange.client.post(`/markets/${where.id}/orders`, {
    body: { order: await trader.order(where, limit) },
  });
  if (!body.orderHash) throw new Error(`the order was refused: ${JSON.stringify(body)}`);
  return body.orderHash;
}

/** Alice buys No, and bob Yes. */
async function trade(lots: number, where = market): Promise<string> {
  await submit(alice, { side: 'BUY', outcome: 1, pips: 4_000, lots }, where);
  return submit(bob, { side: 'BUY', outcome: 0, pips: 6_000, lots }, where);
}

const is = (where: OpenMarket, wanted: string) =>
  until(`the market is ${wanted}`, async () => {
    return (await exchange.client.get(`/markets/${where.id}`)).body.status === wanted;
  });

async function openFinally(): Promise<OpenMarket> {
  const made = await openMarket(exchange.client, ADMIN_TOKEN);
  await is(made, 'OPEN');
  return made;
}

/** Whether the chain has a result of the market. */
async function isReported({ conditionId }: OpenMarket): Promise<boolean> {
  const data = PAYOUTS.encodeFunctionData('payoutDenominator', [conditionId]);
  const to = exchange.places.CONDITIONAL_TOKENS_ADDRESS;
  return BigInt(String(await exchange.ask('eth_call', { to, data }, 'latest'))) > 0n;
}

const confirmed = (hash: string) =>
  until('the trade is CONFIRMED', async () => (await fillOf(bob, hash)).settlementStatus === 'CONFIRMED');

test('two wallets trade, and the trade is final', async () => {
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
  ended = await openFinally();
  await confirmed(await trade(500));
  const from = Number(await exchange.ask('eth_blockNumber'));
  await until('a block without trades', async () => (await status()).finalBlock > from + MORE_BLOCKS);
  expect(await refused('chain', 'rejoin', '--yes')).toMatchObject({
    code: 3,
    err: expect.stringContaining('there is nothing to do'),
  });
});

test('a final block that is replaced halts the exchange, which names the block', async () => {
  const first = Number(await exchange.ask('eth_blockNumber')) + 1;
  opened = await openFinally();
  await exchange.asAdmin(`/admin/markets/${ended.id}/resolve`, { outcomeIndex: 0 });
  await is(ended, 'RESOLVED');
  lost = await trade(1_000);
  await confirmed(lost);
  // Then no bytes of the transactions are left to be sent again.
  await until('all transactions are final', async () => (await lanes()).every(({ open }) => open === 0));
  const head = Number(await exchange.ask('eth_blockNumber'));
  // Without its transactions: the nodes have forgotten them.
  await exchange.ask('anvil_reorg', head - first + 1, []);
  expect(await isReported(ended)).toBe(false);
  await until('the exchange is HALTED', async () => (await status()).mode === 'HALTED');
  const { message } = (await exchange.client.get('/config')).body;
  expect(message).toMatch(
    /^the chain: block \d+ was final as 0x\w{64} and is 0x\w{64} now; see: exchange chain rejoin$/,
  );
  const why = expect.stringContaining(`HALTED: ${message}\n`);
  for (const words of [['chain', 'status'], ['doctor']])
    expect((await exchange.shell.exchange(...words)).out).toEqual(why);
  expect((await fillOf(bob, lost)).settlementStatus).toBe('CONFIRMED');
});

test('rejoin says what it will do, and without a terminal it needs --yes to do it', async () => {
  const asked = await waitForRejoin();
  expect(asked.code).not.toBe(0);
  expect(asked.out).toMatch(
    /block (\d+) of the books is 0x\w{64}\nthe nodes have 0x\w{64} in its place, and their final block is \d+\nblock \d+ is the last that both have: up to \d+ blocks were replaced\n1 CONFIRMED settlement is not in the new blocks, and will be sent again: \S+-s0\n/,
  );
  expect((await fillOf(bob, lost)).settlementStatus).toBe('CONFIRMED');
});

/** The command, as soon as the nodes have enough final blocks. */
async function waitForRejoin(...more: string[]) {
  let said = await exchange.shell.exchange('chain', 'rejoin', ...more);
  await until('the nodes have enough final blocks', async () => {
    if (!/repeat this in some seconds/.test(said.err)) return true;
    said = await exchange.shell.exchange('chain', 'rejoin', ...more);
    return false;
  });
  return said;
}

test('after it the books follow the new blocks, the audit is clean, and the trade is sent again and CONFIRMED', async () => {
  const { finalBlock } = await status();
  const said = await waitForRejoin('--yes');
  expect(said).toMatchObject({ code: 0, err: '' });
  expect(said.out).toContain('1 settlement is open again');
  await until('the books follow', async () => (await status()).finalBlock > finalBlock);
  expect((await fillOf(bob, lost)).settlementStatus).toBe('RETRYING');
  expect((await exchange.shell.exchange('audit')).out).toMatch(/^ok/);
  expect((await balancesOf(bob)).collateral).toMatchObject({
    total: '9997',
    unsettled: '6',
    available: '9991',
  });
  expect((await exchange.shell.exchange('mode', 'NORMAL')).code).toBe(0);
  await confirmed(lost);
  expect((await balancesOf(bob)).collateral).toMatchObject({
    total: '9991',
    unsettled: '0',
    available: '9991',
  });
  expect((await exchange.shell.exchange('audit')).out).toMatch(/^ok/);
});

test('a market that opened in replaced blocks trades, and one that ended there has its result on the chain again', async () => {
  // A worker that goes on finds out only after a minute that nonces of the oracle are free again.
  await exchange.rest();
  await exchange.work();
  await confirmed(await trade(500, opened));
  await until('the result is on the chain', () => isReported(ended));
  await until('nothing waits for the oracle', async () => {
    const { opening, results } = await status();
    return opening.length + results.length === 0;
  });
});

test('no nonce of a lane is left without a transaction, so whatever is sent next runs', async () => {
  await until('each lane has used all of its nonces', async () => {
    for (const { address, nextNonce, open } of await lanes()) {
      const used = Number(await exchange.ask('eth_getTransactionCount', address, 'latest'));
      if (used !== nextNonce || open > 0) return false;
    }
    return true;
  });
});

test('the lanes go on, the exchange stays NORMAL, and there is nothing more to rejoin', async () => {
  await confirmed(await trade(500));
  expect((await status()).mode).toBe('NORMAL');
  await exchange.shell.exchange('mode', 'HALTED');
  expect(await refused('chain', 'rejoin', '--yes')).toMatchObject({
    code: 3,
    err: expect.stringContaining('there is nothing to do'),
  });
});
