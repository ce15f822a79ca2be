import { checksumAddress } from '../../../src/auth/address';
import { matchOrdersData } from '../../../src/chain/match-orders';
import { createRpc } from '../../../src/chain/rpc';
import { laneSamples } from '../../../src/extensions/chain/samples';
import { settlementId } from '../../../src/store/records/settlement';
import { signedOrdersOf } from '../../../src/store/records/signed-order';
import { createShell } from '../../cli/shell';
import { until } from '../../support/waiting';
import { type Key, type Operating, startOperating } from './operating';
import { startChainProxy } from './proxy';
import { newTrader, ONE, type Trader } from './world';

/** Every match ends, and one that ends without money blames only a wallet that is at fault. */
let op: Operating;
let traders: Trader[];
const stopping: (() => Promise<void>)[] = [];
beforeAll(async () => {
  op = await startOperating();
  traders = await Promise.all(Array.from({ length: 3 }, () => op.trader()));
});
afterEach(async () => {
  for (const stop of stopping.splice(0)) await stop();
  op.errors.length = 0;
});
afterAll(() => op?.stop());

const laneOf = (n: number): string => op.operators[n]?.address.toLowerCase() ?? '';
const one = (n: number): Trader => traders[n % traders.length] as Trader;
const soon = (what: string, holds: () => boolean | Promise<boolean>) =>
  until(what, holds, { explain: () => op.errors.join('\n') });
const is = (key: Key, status: string) =>
  soon(`${key.sequence} is ${status}`, async () => (await op.statusOf(key)) === status);
function operate(...given: Parameters<Operating['operate']>) {
  const operator = op.operate(...given);
  stopping.push(operator.stop);
  return operator;
}

/** Settles a match by a call of its own, past the exchange. */
async function settleOutside(key: Key): Promise<void> {
  const record = await op.settlements.find(key);
  if (!record?.settlement) throw new Error('no record');
  const orders = await op.settlements.ordersOf([record]);
  const { takerOrder, makerOrders } = signedOrdersOf(record, orders, op.terms, checksumAddress);
  if (!takerOrder) throw new Error('no order');
  const { takerFillAmount, makerFillAmounts } = record.settlement;
  const data = matchOrdersData({ takerOrder, makerOrders, takerFillAmount, makerFillAmounts });
  await op.world.chain.send(op.world.operator.address, op.world.exchange, data);
}

test('the nonce gap of a lane has a transaction until a block has it, and its cost is counted once it is final', async () => {
  const rpc = createRpc([op.world.anvil.url]);
  stopping.push(async () => rpc.stop());
  const sampled = async (name: string) => {
    const lane = (await op.intents.lanes()).filter(({ address }) => address === laneOf(0));
    return (await laneSamples({ rpc }, lane)).find((sample) => sample.name === name)?.value;
  };
  const operator = operate([0]);
  const counted = (transactions: number) =>
    soon(`${transactions} are counted`, () => operator.spent()?.transactions === transactions);
  await op.match(one(0), one(1));
  await counted(1);
  const first = operator.spent();
  expect(await sampled('exchange_chain_nonce_gap')).toBe(0);
  expect(await sampled('exchange_chain_lane_money')).toBeLessThan(1_000);
  op.mine(false);
  const key = await op.match(one(1), one(2));
  await soon('a transaction is in no block', async () => (await sampled('exchange_chain_nonce_gap')) === 1);
  op.mine(true);
  await counted(2);
  const hash = (await op.settlements.find(key))?.transactionHash;
  const receipt = await op.world.chain.ask<{ gasUsed: string; effectiveGasPrice: string }>(
    'eth_getTransactionReceipt',
    hash,
  );
  const [gas, priceWei] = [BigInt(receipt.gasUsed), BigInt(receipt.effectiveGasPrice)];
  const [gasBefore, weiBefore] = [first?.gas ?? 0n, first?.wei ?? 0n];
  const both = { transactions: 2, gas: gasBefore + gas, wei: weiBefore + gas * priceWei, priceWei };
  expect(operator.spent()).toEqual(both);
  expect(gasBefore).toBeGreaterThan(0n);
});

test('a match whose orders were filled without the exchange ends without a wallet at fault, and gives back what it took', async () => {
  const key = await op.match(one(0), one(1));
  await settleOutside(key);
  operate([0]);
  await is(key, 'FAILED');
  const record = await op.settlements.find(key);
  expect(record?.failureReason).toBe('UNKNOWN');
  expect(record?.failedWallet ?? null).toBeNull();
  for (const { address } of [one(0), one(1)]) {
    const account = await op.ledger.chainAccount(address.toLowerCase());
    expect(account).toMatchObject({ collateral: { outMicro: 0 }, strikes: null });
  }
});

test('a SELL to many wallets whose code burns all gas is settled, fill by fill', async () => {
  const count = 12;
  const seller = await op.trader(100n * ONE, 1_000n * ONE);
  const buyers = await Promise.all(Array.from({ length: count }, () => op.trader()));
  for (const buyer of buyers) await op.engine.place(op.order(buyer, 0, 5_000, 10));
  const { record } = await op.engine.place(op.order(seller, 0, 5_000, 10 * count, 1));
  const ref = { marketId: op.terms.id, tradeMs: record.fillMs, sequence: record.sequence };
  for (const { address } of buyers) await op.world.chain.ask('anvil_setCode', address, '0x5b600056');
  await op.write({ ...ref, part: 0 });
  operate([0]);
  for (let part = 0; part < count; part++) await is({ ...ref, part }, 'CONFIRMED');
});

test('a lane that another process had in between ends what that one left', async () => {
  const silent = await startChainProxy(op.world.anvil.url);
  stopping.push(silent.stop);
  let go: () => void = () => undefined;
  const stall = new Promise<void>((resolve) => {
    go = resolve;
  });
  let isStalled = false;
  const first = await op.match(one(0), one(1));
  // The first process pauses for longer than its lease, before its transaction is in Redis.
  operate([0], {
    async onStep(step) {
      if (step !== 'signed' || isStalled) return;
      isStalled = true;
      await stall;
    },
  });
  await soon('the first process stands still', () => isStalled);
  silent.swallow();
  const other = op.operate([0], { nodeUrls: [silent.url] });
  await is(first, 'SUBMITTED');
  await other.stop();
  expect(await op.intents.list()).toHaveLength(1);
  go();
  await is(first, 'CONFIRMED');
  const second = await op.match(one(1), one(2));
  await is(second, 'CONFIRMED');
  await soon('no intent is open', async () => (await op.intents.list()).length === 0);
});

const shellOf = ({ world, server }: Operating) =>
  createShell(server.url, {
    FUNDS: 'chain',
    NETWORK: 'testnet',
    CHAIN_RPC_URL: world.anvil.url,
    EXCHANGE_ADDRESS: world.exchange,
    COLLATERAL_ADDRESS: world.collateral,
    CONDITIONAL_TOKENS_ADDRESS: world.ctf,
    ORACLE_ADDRESS: world.deployer,
  });

test('a key without the role of an operator takes no matches, and settles once it has the role', async () => {
  const { world } = op;
  const stranger = newTrader();
  operate([], { keys: [stranger.key.privateKey] });
  const key = await op.match(one(0), one(1));
  await soon('it is told', () => op.errors.join().includes('settles nothing'));
  expect(await op.statusOf(key)).toBe('MATCHED');
  await world.chain.ask('anvil_setBalance', stranger.address, `0x${(10n ** 21n).toString(16)}`);
  await world.call(world.admin.address, 'addOperator', stranger.address);
  await is(key, 'CONFIRMED');
});

test('a transaction that a process leaves is ended by one that runs without its key, which then gives the lane back', async () => {
  const silent = await startChainProxy(op.world.anvil.url);
  stopping.push(silent.stop);
  silent.swallow();
  const gone = op.operate([0], { nodeUrls: [silent.url] });
  await op.match(one(0), one(1));
  await soon('the match is in a transaction of the silent node', async () =>
    (await op.intents.list()).some(({ lane }) => lane === laneOf(0)),
  );
  operate([1]);
  await gone.stop();
  await soon('no intent is open', async () => (await op.intents.list()).length === 0);
  await soon('the lane is free', async () => {
    const lane = (await op.intents.lanes()).find(({ address }) => address === laneOf(0));
    return lane !== undefined && lane.leasedUntilMs <= op.clock.now();
  });
});

test('a command ends a settlement that the contract would refuse, and none that it would settle', async () => {
  const shell = shellOf(op);
  const key = await op.match(one(0), one(1));
  const refused = await shell.exchange('chain', 'fail', settlementId(key), '--yes');
  expect([refused.code, refused.err]).toEqual([3, expect.stringContaining('the contract can settle')]);
  await settleOutside(key);
  expect(await shell.exchange('chain', 'fail', settlementId(key), '--yes')).toMatchObject({ code: 0 });
  expect(await op.statusOf(key)).toBe('FAILED');
  const again = await shell.exchange('chain', 'fail', settlementId(key), '--yes');
  expect([again.code, again.err]).toEqual([3, expect.stringContaining('is over already')]);
});

test('a drain counts matches that no worker has recorded yet', async () => {
  const shell = shellOf(op);
  const key = await op.fill(one(0), one(1));
  expect(await shell.exchange('chain', 'drain', '--timeout', '1')).toMatchObject({ code: 1 });
  await op.write(key);
  operate([0]);
  await is(key, 'CONFIRMED');
  expect(await shell.exchange('chain', 'drain', '--timeout', '90')).toMatchObject({ code: 0 });
  await op.engine.setMode('NORMAL', null);
});

test('a lane is adopted at the nonce of the last final block', async () => {
  const lane = laneOf(0);
  const nonce = Number(await op.world.chain.ask<string>('eth_getTransactionCount', lane, 'finalized'));
  expect(await op.intents.moveLane(lane, { from: 'RUNNING', to: 'AHEAD' })).toBe(true);
  expect(await shellOf(op).json('chain', 'adopt', lane, '--yes')).toMatchObject({
    nextNonce: nonce,
    isAdopted: true,
  });
});
