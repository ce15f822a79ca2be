import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createShell } from '../../cli/shell';
import { hasPython, PACKAGE, PYTHON } from '../../client/python-maker';
import {
  type Call,
  type ChainExchange,
  type ChainTrader,
  startChainExchange,
} from '../../support/chain-exchange';
import { patiently } from '../../support/client';
import { listen } from '../../support/listener';
import { blocksFor } from '../../support/page-commands';
import { ADMIN_TOKEN } from '../../support/settings';
import { type OpenMarket, openMarket } from '../../support/trader';
import { until as waitUntil } from '../../support/waiting';
import { expectExact } from './sdk-story';

/** FUNDS=chain through the interface alone, on a chain with the block time of BSC. The tests build on each other. */
let exchange: ChainExchange;
let market: OpenMarket;
let alice: ChainTrader;
let bob: ChainTrader;

beforeAll(async () => {
  exchange = await startChainExchange();
  alice = await exchange.newTrader();
  bob = await exchange.newTrader();
});
afterAll(() => exchange?.stop());

/** Each look may ask the chain. */
const until: typeof waitUntil = (what, holds) => waitUntil(what, holds, { pollMs: 200 });
const marketNow = async () => (await exchange.client.get(`/markets/${market.id}`)).body;
const balancesOf = async (trader: ChainTrader) => (await trader.get('/me/balances')).body;
const untilStatus = (status: string) =>
  until(`the market is ${status}`, async () => (await marketNow()).status === status);
/** A busy machine may be late with the wallet of an order; the same order is accepted once. */
const submit = async (trader: ChainTrader, limit: Parameters<ChainTrader['order']>[1]) => {
  const body = { order: await trader.order(market, limit) };
  return patiently(() => exchange.client.post(`/markets/${market.id}/orders`, { body }));
};

test('the configuration names the chain, and the transactions that approve the exchange contract', async () => {
  const { funds, chain, contracts } = (await exchange.client.get('/config')).body;
  expect(funds).toBe('chain');
  const { collateral, conditionalTokens } = contracts;
  expect(chain.approvals.map(({ to }: Call) => to)).toEqual([collateral, conditionalTokens]);
});

test('a market opens when its tokens are registered in a final block, not before', async () => {
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  expect(await marketNow()).toMatchObject({ code: 'MARKET_NOT_FOUND' });
  const early = await alice.post(`/markets/${market.id}/split`, { size: '1' });
  expect(early.body).toMatchObject({ code: 'MARKET_NOT_OPEN' });
  await untilStatus('OPEN');
});

test('what never rests must end soon, and no nonce may be far ahead', async () => {
  const bid = { side: 'BUY', outcome: 0, pips: 6_000, lots: 1_000 } as const;
  const ahead = (seconds: number) => String(Math.floor(Date.now() / 1_000) + seconds);
  const answerTo = async (more: Record<string, unknown>, orderType = 'GTC') =>
    (await patiently(() => alice.submit(market, bid, { orderType, more }))).body;
  for (const orderType of ['IOC', 'FOK', 'MARKET']) {
    for (const expiration of ['0', ahead(7_000)]) {
      const refused = await answerTo({ expiration }, orderType);
      expect(refused).toMatchObject({ status: 400, code: 'INVALID_EXPIRATION' });
      expect(Number(refused.maximum)).toBeLessThan(Number(ahead(700)));
    }
    expect((await answerTo({ expiration: ahead(300) }, orderType)).code).toMatch(/^INSUFFICIENT/);
  }
  expect(await answerTo({ nonce: '1001' })).toMatchObject({ code: 'INVALID_NONCE_VALUE', current: '0' });
  expect((await answerTo({ nonce: '1000' })).code).toMatch(/^INSUFFICIENT/);
});

test('the faucet mints collateral once an hour, and sends gas', async () => {
  expect((await balancesOf(alice)).collateral.total).toBe('0');
  for (const trader of [alice, bob])
    expect((await patiently(() => trader.post('/me/faucet'))).status).toBe(200);
  expect((await alice.post('/me/faucet')).body).toMatchObject({ code: 'RATE_LIMITED', scope: 'faucet' });
  for (const trader of [alice, bob]) {
    await until('the faucet has paid', async () => (await balancesOf(trader)).collateral.total === '10000');
  }
  const gas = await exchange.ask('eth_getBalance', alice.wallet.address, 'latest');
  expect(BigInt(String(gas))).toBeGreaterThan(0n);
});

test('without an approval an order is refused, and the refusal names whom to approve for what', async () => {
  const { contracts, chain } = (await exchange.client.get('/config')).body;
  const refused = await submit(alice, { side: 'BUY', outcome: 0, pips: 6_000, lots: 10_000 });
  expect(refused.body).toMatchObject({
    code: 'INSUFFICIENT_ALLOWANCE',
    required: '60',
    available: '0',
    spender: contracts.exchange,
    token: contracts.collateral,
  });
  for (const trader of [alice, bob]) await trader.send(chain.approvals);
  for (const trader of [alice, bob]) {
    await until('the approvals are final', async () => {
      const { approvals } = await balancesOf(trader);
      return approvals.collateral.enough && approvals.conditionalTokens.approved;
    });
  }
});

test('splits are transactions of the wallet itself', async () => {
  const { code, required, available } = (await bob.post(`/markets/${market.id}/split`, { size: '10001' }))
    .body;
  expect([code, required, available]).toEqual(['INSUFFICIENT_BALANCE', '10001', '10000']);
  const early = await bob.post(`/markets/${market.id}/merge`, { size: '1' });
  expect(early.body).toMatchObject({ code: 'INSUFFICIENT_BALANCE', asset: 'YES', available: '0' });
  const refused = await bob.post(`/markets/${market.id}/split`, { size: '200' });
  expect(refused.body).toMatchObject({ status: 409, code: 'ON_CHAIN' });
  await bob.send(refused.body.calls);
  await until('the tokens are final', async () => {
    const { tokens } = await balancesOf(bob);
    return tokens.length === 2 && tokens.every(({ total }: { total: string }) => total === '200');
  });
});

(hasPython ? test : test.skip)(
  'the Python client sends the transactions that a refusal asks for',
  async () => {
    const { chain, chainId } = (await exchange.client.get('/config')).body;
    const program = [
      'import sys',
      'from ctf_exchange import Client, ExchangeError, Wallet, calls_of, send_calls',
      'url, key, market, node, chain_id = sys.argv[1:]',
      'client = Client(url, Wallet(key))',
      'try:',
      '    client.merge(market, "1")',
      'except ExchangeError as error:',
      '    print(len(send_calls(node, int(chain_id), client.wallet, calls_of(error))))',
    ].join('\n');
    const args = [exchange.client.url, bob.wallet.privateKey, market.id, chain.rpcUrl, String(chainId)];
    const { stdout } = await promisify(execFile)(PYTHON, ['-c', program, ...args], {
      env: { ...process.env, PYTHONPATH: PACKAGE },
    });
    expect(stdout.trim()).toBe('1');
    await until('the merge is final', async () => (await balancesOf(bob)).collateral.total === '9801');
    const refused = await bob.post(`/markets/${market.id}/split`, { size: '1' });
    await bob.send(refused.body.calls);
    await until('the split is final', async () => (await balancesOf(bob)).collateral.total === '9800');
  },
);

(hasPython ? test : test.skip)('the program of clients/python/README.md approves and splits', async () => {
  const [block] = blocksFor('clients/python/README.md', 'test/extensions/chain/exchange.long.test.ts');
  const program = [
    'import sys',
    'from ctf_exchange import Client, Wallet',
    'url, key, market_id = sys.argv[1:]',
    'client = Client(url, Wallet(key))',
    block?.text ?? '',
  ].join('\n');
  const carol = await exchange.newTrader();
  const args = ['-c', program, exchange.client.url, carol.wallet.privateKey, market.id];
  await promisify(execFile)(PYTHON, args, { env: { ...process.env, PYTHONPATH: PACKAGE } });
  await until('the sets are final', async () => {
    const { tokens } = await balancesOf(carol);
    return tokens.length === 2 && tokens.every(({ total }: { total: string }) => total === '100');
  });
});

test('a match goes to the chain, and what it brings can be spent when it is final', async () => {
  const sale = await submit(bob, { side: 'SELL', outcome: 0, pips: 5_500, lots: 10_000 });
  expect(sale.body).toMatchObject({ status: 'OPEN' });
  // So that the state before the chain has it lasts.
  await exchange.shell.exchange('chain', 'pause');
  const bought = await submit(alice, { side: 'BUY', outcome: 0, pips: 6_000, lots: 10_000 });
  expect(bought.body).toMatchObject({ status: 'FILLED', averagePrice: '0.55' });
  const before = await balancesOf(alice);
  expect(before.collateral).toMatchObject({ total: '10000', unsettled: '55', available: '9945' });
  expect(before.tokens).toMatchObject([{ outcomeIndex: 0, total: '0', available: '0', pending: '100' }]);
  await exchange.shell.exchange('chain', 'resume');
  const path = `/orders/${bought.body.orderHash}`;
  const isConfirmed = async () => {
    const { fills } = (await alice.get(path)).body;
    return fills[0].settlementStatus === 'CONFIRMED';
  };
  await until('the fill is confirmed', isConfirmed);
  const order = (await alice.get(path)).body;
  expect(order).toMatchObject({ filledSize: '100', settledSize: '100', failedSize: '0' });
  const [fill] = order.fills;
  const receipt = (await exchange.ask('eth_getTransactionReceipt', fill.transactionHash)) as {
    blockNumber: string;
  };
  expect(fill.blockNumber).toBe(Number(receipt.blockNumber));
  const after = await balancesOf(alice);
  expect(after.collateral).toMatchObject({ total: '9945', unsettled: '0', available: '9945' });
  expect(after.tokens).toMatchObject([{ outcomeIndex: 0, total: '100', available: '100', pending: '0' }]);
  expect((await balancesOf(bob)).collateral).toMatchObject({ total: '9855', available: '9855' });
});

test('orders that the SDK of predict.fun signs settle over HTTP and the operator as predicted, to the wei', async () => {
  await expectExact(exchange, [alice, bob]);
});

test('a match that a wallet can no longer pay fails: it names the wallet, and the other one loses nothing', async () => {
  const carol = await exchange.newTrader();
  await carol.post('/me/faucet');
  const { chain, contracts } = (await exchange.client.get('/config')).body;
  await until('the faucet has paid', async () => (await balancesOf(carol)).collateral.total === '10000');
  await carol.send(chain.approvals);
  await until('the approvals are final', async () => (await balancesOf(carol)).approvals.collateral.enough);
  const sale = await submit(bob, { side: 'SELL', outcome: 0, pips: 5_000, lots: 1_000 });
  await exchange.shell.exchange('chain', 'pause');
  const bought = await submit(carol, { side: 'BUY', outcome: 0, pips: 5_000, lots: 1_000 });
  expect(bought.body).toMatchObject({ status: 'FILLED' });
  // All of her collateral, to another wallet.
  const words = [alice.wallet.address.slice(2).padStart(64, '0'), (10_000n * 10n ** 18n).toString(16)];
  const data = `0xa9059cbb${words.map((word) => word.padStart(64, '0')).join('')}`;
  await carol.send([{ to: contracts.collateral, data }]);
  await exchange.shell.exchange('chain', 'resume');
  const orderOf = async () => (await carol.get(`/orders/${bought.body.orderHash}`)).body;
  await until('the match has failed', async () => (await orderOf()).fills[0].settlementStatus === 'FAILED');
  const order = await orderOf();
  expect(order).toMatchObject({ filledSize: '10', settledSize: '0', failedSize: '10' });
  const failedWallet = carol.wallet.address;
  expect(order.fills[0]).toMatchObject({ failureReason: 'COLLATERAL', failedWallet });
  const activity = async () => (await carol.get(`/markets/${market.id}/activity?limit=1`)).body.data[0];
  expect(await activity()).toMatchObject({ taker: { address: failedWallet }, failedWallet });
  const token = await carol.token();
  await exchange.client.call('PATCH', '/me/profile', { token, body: { hidden: true } });
  const hidden = await activity();
  expect(hidden).toMatchObject({ taker: { address: null }, failureReason: 'COLLATERAL' });
  expect(JSON.stringify(hidden)).not.toContain(failedWallet);
  const next = await submit(carol, { side: 'BUY', outcome: 0, pips: 5_000, lots: 1_000 });
  expect(next.body).toMatchObject({ code: 'WALLET_SUSPENDED', tradeId: order.fills[0].tradeId, strikes: 1 });
  // His shares are on the book again, and a book that is read now has them.
  const back = (await bob.get(`/orders/${sale.body.orderHash}`)).body;
  expect(back).toMatchObject({
    status: 'OPEN',
    reason: 'SETTLEMENT_FAILED',
    filledSize: '0',
    failedSize: '0',
  });
  expect(back.fills).toMatchObject([{ settlementStatus: 'FAILED', failedWallet }]);
  const book = (await exchange.client.get(`/markets/${market.id}/orderbook`)).body;
  expect(book.asks).toContainEqual(expect.objectContaining({ price: '0.5', size: '10' }));
  const { tokens } = await balancesOf(bob);
  const yes = tokens.find(({ marketId }: { marketId: string }) => marketId === market.id);
  expect(yes).toMatchObject({ outcomeIndex: 0, total: '100', available: '90', unsettled: '0' });
  await bob.post('/orders/cancel', { orderHashes: [sale.body.orderHash] });
});

test('a wallet that moves its tokens away loses its order, before anybody meets it', async () => {
  const resting = await submit(bob, { side: 'SELL', outcome: 1, pips: 9_000, lots: 20_000 });
  expect(resting.body).toMatchObject({ status: 'OPEN' });
  // To merge them would take them from the order.
  const merge = await bob.post(`/markets/${market.id}/merge`, { size: '1' });
  expect(merge.body).toMatchObject({ code: 'INSUFFICIENT_BALANCE', asset: 'NO', available: '0' });
  const { chain } = (await exchange.client.get('/config')).body;
  const [, approval] = chain.approvals as [Call, Call];
  // The same call with `false`.
  await bob.send([{ to: approval.to, data: `${approval.data.slice(0, -1)}0` }]);
  await until('the order is cancelled', async () => {
    const { status, reason } = (await bob.get(`/orders/${resting.body.orderHash}`)).body;
    return status === 'CANCELLED' && reason === 'FUNDS';
  });
});

test('while a match has waited for the chain for 30 s only cancels are taken, which every socket hears, until it is settled', async () => {
  const socket = await listen(exchange.url);
  const told = () => socket.all('exchange:update').at(-1)?.mode;
  const configOf = async () => (await exchange.client.get('/config')).body;
  await exchange.shell.exchange('chain', 'pause');
  await submit(alice, { side: 'SELL', outcome: 0, pips: 5_000, lots: 1_000 });
  const bought = await submit(bob, { side: 'BUY', outcome: 0, pips: 5_000, lots: 1_000 });
  expect(bought.body).toMatchObject({ status: 'FILLED' });
  const resting = await submit(bob, { side: 'BUY', outcome: 0, pips: 1_000, lots: 1_000 });
  await until('only cancels are taken', async () => (await configOf()).mode === 'CANCEL_ONLY');
  expect((await configOf()).message).toContain('waited for more than 30 s');
  await until('a socket is told', () => told() === 'CANCEL_ONLY');
  const refused = await submit(bob, { side: 'BUY', outcome: 0, pips: 2_000, lots: 1_000 });
  expect(refused.body).toMatchObject({ status: 503, code: 'CANCEL_ONLY' });
  expect(refused.body.detail).toContain('waited for more than 30 s');
  const cancelled = await bob.post(`/orders/${resting.body.orderHash}/cancel`);
  expect(cancelled.body.status).toBe('CANCELLED');
  await exchange.shell.exchange('chain', 'resume');
  await until('orders are taken again', async () => (await configOf()).mode === 'NORMAL');
  await until('the socket is told', () => told() === 'NORMAL');
  const next = await submit(bob, { side: 'BUY', outcome: 0, pips: 1_000, lots: 1_000 });
  expect(next.body).toMatchObject({ status: 'OPEN' });
  socket.close();
});

test('a nonce is raised by the wallet itself', async () => {
  expect((await alice.post('/me/nonce')).body).toMatchObject({ code: 'ON_CHAIN', calls: [{}] });
});

test('the command line leaves the data alone when it is set for paper funds or for another contract', async () => {
  const { places } = exchange;
  const others = [
    [{}, 'the data has funds on chain 97: set FUNDS=chain, or use another Redis'],
    [
      { ...places, FUNDS: 'chain', EXCHANGE_ADDRESS: places.COLLATERAL_ADDRESS },
      'the data belongs to exchange',
    ],
  ] as const;
  for (const [env, why] of others) {
    const shell = createShell(exchange.redisUrl, env);
    const ran = await shell.exchange('mode', 'HALTED');
    expect([ran.code, ran.err]).toEqual([78, expect.stringContaining(why)]);
    const checks: { name: string; detail: string }[] = (await shell.json('doctor')).checks;
    expect(checks.find(({ name }) => name === 'funds')?.detail).toContain(why);
  }
  expect((await exchange.shell.json('mode')).mode).toBe('NORMAL');
});

test('the command line shows the books and the lanes, pauses them, and drains', async () => {
  const status = await exchange.shell.json('chain', 'status');
  expect(status).toMatchObject({ mode: 'NORMAL', unsettled: 0, failed: 1, running: 2, opening: [] });
  expect(status.finalBlock).toBeGreaterThan(0);
  const lanes = await exchange.shell.json('chain', 'lanes');
  expect(lanes).toMatchObject([
    { state: 'RUNNING', isHeld: true },
    { state: 'RUNNING', isHeld: true },
  ]);
  const { address } = lanes[0];
  expect(await exchange.shell.json('chain', 'pause', address)).toMatchObject({ lanes: [address] });
  expect((await exchange.shell.json('chain', 'lanes'))[0]).toMatchObject({ state: 'PAUSED' });
  expect(await exchange.shell.json('chain', 'resume')).toMatchObject({ lanes: [address] });
  expect((await exchange.shell.exchange('chain', 'adopt', address, '--yes')).code).toBe(3);
  expect((await exchange.shell.exchange('chain', 'drain')).code).toBe(0);
  expect((await exchange.shell.json('mode')).mode).toBe('CANCEL_ONLY');
  await exchange.shell.exchange('mode', 'NORMAL');
});

test('the result of another oracle is refused with the transaction that the oracle sends', async () => {
  const oracle = alice.wallet.address;
  const { id } = await openMarket(exchange.client, ADMIN_TOKEN, { oracle });
  await until('the market is open', async () => {
    const { status } = (await exchange.client.get(`/markets/${id}`)).body;
    return status === 'OPEN';
  });
  for (const [path, body] of [
    ['resolve', { outcomeIndex: 1 }],
    ['void', {}],
  ] as const) {
    const refused = await exchange.asAdmin(`/admin/markets/${id}/${path}`, body);
    expect(refused.body).toMatchObject({ code: 'ON_CHAIN', calls: [{}] });
    if (path === 'void') await alice.send(refused.body.calls);
  }
  await until('the market is void', async () => {
    const { status } = (await exchange.client.get(`/markets/${id}`)).body;
    return status === 'VOIDED';
  });
});

test('a market is resolved when its result is final on the chain', async () => {
  const answer = await exchange.asAdmin(`/admin/markets/${market.id}/resolve`, { outcomeIndex: 0 });
  expect(answer.body.status).toBe('CLOSED');
  const early = await alice.post(`/markets/${market.id}/redeem`);
  expect(early.body).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  await untilStatus('RESOLVED');
  expect((await marketNow()).resolution).toMatchObject({ outcomeIndex: 0 });
});

test('tokens of a market with a result are redeemed by the wallet itself, and leave its balances', async () => {
  const merge = await alice.post(`/markets/${market.id}/merge`, { size: '1' });
  expect(merge.body).toMatchObject({ code: 'MARKET_NOT_OPEN', retryable: false });
  expect(merge.body.detail).toContain(`POST /markets/${market.id}/redeem`);
  const ofMarket = async () =>
    (await balancesOf(alice)).tokens.filter(({ marketId }: { marketId: string }) => marketId === market.id);
  expect(await ofMarket()).not.toEqual([]);
  const refused = await alice.post(`/markets/${market.id}/redeem`);
  expect(refused.body).toMatchObject({ status: 409, code: 'ON_CHAIN', calls: [{}] });
  const before = Number((await balancesOf(alice)).collateral.total);
  await expectWorth(bob);
  await expectWorth(alice);
  await alice.send(refused.body.calls);
  await until('the tokens are redeemed', async () => (await ofMarket()).length === 0);
  await until('they are paid', async () => Number((await balancesOf(alice)).collateral.total) > before);
  await expectWorth(alice);
});

/** A portfolio is worth what the wallet has on the chain: its collateral, and its tokens at what a market pays or costs. */
async function expectWorth(trader: ChainTrader): Promise<void> {
  const { collateral, tokens } = await balancesOf(trader);
  let worth = 0;
  for (const { marketId, outcomeIndex, total } of tokens) {
    const { resolution, outcomes } = (await exchange.client.get(`/markets/${marketId}`)).body;
    worth += Number(total) * Number(resolution?.payouts[outcomeIndex] ?? outcomes[outcomeIndex].price ?? 0.5);
  }
  const { value, positionsValue } = (await trader.get('/me/portfolio')).body;
  expect(Number(positionsValue)).toBeCloseTo(worth, 4);
  expect(Number(value)).toBeCloseTo(Number(collateral.total) + worth, 4);
}

test('tokens that a wallet refuses are shown as owed, with the call that claims them', async () => {
  const other = await openMarket(exchange.client, ADMIN_TOKEN);
  await until('the market is open', async () => {
    return (await exchange.client.get(`/markets/${other.id}`)).body.status === 'OPEN';
  });
  const place = async (trader: ChainTrader, limit: Parameters<ChainTrader['order']>[1]) => {
    const body = { order: await trader.order(other, limit) };
    return patiently(() => exchange.client.post(`/markets/${other.id}/orders`, { body }));
  };
  // The code of the collateral stands for a delegation (EIP-7702) to code without a hook for tokens.
  const { contracts } = (await exchange.client.get('/config')).body;
  await exchange.ask('anvil_setCode', alice.wallet.address, `0xef0100${contracts.collateral.slice(2)}`);
  await place(bob, { side: 'BUY', outcome: 1, pips: 5_000, lots: 500 });
  const bought = await place(alice, { side: 'BUY', outcome: 0, pips: 5_000, lots: 500 });
  expect(bought.body).toMatchObject({ status: 'FILLED' });
  const owed = async () => (await balancesOf(alice)).owed;
  await until('the tokens are owed', async () => (await owed()).length > 0);
  const token = { marketId: other.id, outcomeIndex: 0, tokenId: other.outcomes[0]?.tokenId, amount: '5' };
  expect(await owed()).toMatchObject([{ ...token, call: { to: contracts.exchange } }]);
  await exchange.ask('anvil_setCode', alice.wallet.address, '0x');
  await alice.send([(await owed())[0].call]);
  await until('nothing is owed', async () => (await owed()).length === 0);
  expect((await balancesOf(alice)).tokens).toContainEqual(
    expect.objectContaining({ marketId: other.id, total: '5' }),
  );
});
