import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Wallet } from 'ethers';
import { EXCHANGE } from '../../../src/chain/exchange-contract';
import { until } from '../../support/waiting';
import { type Key, type Operating, startOperating } from './operating';
import { SCALE, type TestOperatorOptions } from './operator';
import { type ChainProxy, post, startChainProxy } from './proxy';
import { CODE } from './stories';
import { collateralAbi, ONE, type Trader } from './world';

/** The operator against a real chain, in one process. */
const DEAR = '0xba43b7400';
let op: Operating;
let node: ChainProxy;
let traders: Trader[];
const stopping: (() => Promise<void>)[] = [];

beforeAll(async () => {
  op = await startOperating();
  node = await startChainProxy(op.world.anvil.url);
  traders = await Promise.all(Array.from({ length: 4 }, () => op.trader()));
});
afterEach(async () => {
  for (const stop of stopping.splice(0)) await stop();
  node.heal();
  op.errors.length = 0;
});
afterAll(async () => {
  await op?.stop();
  await node?.stop();
});

const one = (n: number): Trader => traders[n % traders.length] as Trader;
const matchAny = (n = 0): Promise<Key> => op.match(one(n), one(n + 1));

function operate(lanes: readonly number[], onStep?: TestOperatorOptions['onStep']) {
  const operator = op.operate(lanes, { nodeUrls: [node.url], onStep });
  stopping.push(operator.stop);
  return operator;
}
const laneOf = (n: number): string => op.operators[n]?.address.toLowerCase() ?? '';

const soon = (what: string, holds: () => boolean | Promise<boolean>) =>
  until(what, holds, { explain: () => op.errors.join('\n') });
const is = (key: Key, status: string) =>
  soon(`settlement ${key.sequence} is ${status}`, async () => (await op.statusOf(key)) === status);
const confirmed = async (keys: readonly Key[]) => {
  for (const key of keys) await is(key, 'CONFIRMED');
  const settled = await op.settled();
  for (const { sequence } of keys)
    expect(settled.filter((name) => name.sequence === sequence)).toHaveLength(1);
  await soon('no intent is open', async () => (await op.intents.list()).length === 0);
};

test('matches are settled in one transaction, and show its hash', async () => {
  const keys = [await matchAny(), await matchAny(1), await matchAny(2)];
  operate([0]);
  await confirmed(keys);
  const records = await Promise.all(keys.map((key) => op.settlements.find(key)));
  expect(new Set(records.map((record) => record?.transactionHash)).size).toBe(1);
  // On a busy machine a price is raised before a block has the transaction.
  expect(new Set(records.map((record) => record?.attempts)).size).toBe(1);
});

test('a match that a wallet spoilt before is never sent, fails after a second look, and stops no other', async () => {
  const guilty = await op.trader();
  const good = [await matchAny()];
  const bad = await op.match(one(0), guilty);
  good.push(await matchAny(1));
  const none = collateralAbi.encodeFunctionData('approve', [op.world.exchange, 0n]);
  await op.world.chain.send(guilty.address, op.world.collateral, none);
  operate([0]);
  await confirmed(good);
  await is(bad, 'FAILED');
  expect(await op.settlements.find(bad)).toMatchObject({
    failedWallet: guilty.address.toLowerCase(),
    failureReason: 'ALLOWANCE',
    transactionHash: null,
  });
  expect((await op.settlements.find(bad))?.transactionHash).toBeNull();
});

test('a match that a wallet spoils after the look fails by the event of its transaction, and the others of the batch are settled', async () => {
  const guilty = await op.trader();
  const good = [await matchAny()];
  const bad = await op.match(one(0), guilty);
  good.push(await matchAny(1));
  const move = collateralAbi.encodeFunctionData('transfer', [op.world.fees.address, 1_000n * ONE]);
  let isSpoilt = false;
  operate([0], async (step) => {
    if (step !== 'signed' || isSpoilt) return;
    isSpoilt = true;
    await op.world.chain.send(guilty.address, op.world.collateral, move);
  });
  await confirmed(good);
  await is(bad, 'FAILED');
  const records = await Promise.all([...good, bad].map((key) => op.settlements.find(key)));
  expect(new Set(records.map((record) => record?.transactionHash)).size).toBe(1);
});

test('a wallet whose code burns all gas that it gets gets its tokens kept for it, and stops no other', async () => {
  const trap = await op.trader();
  const keys = [await matchAny(), await op.match(one(0), trap), await matchAny(1)];
  // JUMPDEST, PUSH1 0, JUMP: wallets can have code of their own (EIP-7702).
  await op.world.chain.ask('anvil_setCode', trap.address, '0x5b600056');
  operate([0]);
  await confirmed(keys);
  const [yes = '0'] = op.terms.tokenIds;
  expect(await op.world.read('owed', trap.address, yes)).toBe(10n * SCALE.lotAmount);
});

test('wallets whose code burns gas and then accepts take none of the gas of other matches', async () => {
  const burners = await Promise.all(Array.from({ length: 20 }, () => op.trader()));
  const greedy: Key[] = [];
  for (let i = 0; i < burners.length; i += 2)
    greedy.push(await op.match(burners[i] as Trader, burners[i + 1] as Trader));
  const honest = [await matchAny(0), await matchAny(1), await matchAny(2), await matchAny(3)];
  for (const { address } of burners) await op.world.chain.ask('anvil_setCode', address, CODE.burnsAndAccepts);
  const hasCode = async ({ address }: Trader) =>
    (await op.ledger.chainAccount(address.toLowerCase()))?.hasCode ?? false;
  await soon('the books know of the code', async () =>
    (await Promise.all(burners.map(hasCode))).every(Boolean),
  );
  operate([0]);
  await confirmed([...honest, ...greedy]);
  const records = await Promise.all([...honest, ...greedy].map((key) => op.settlements.find(key)));
  expect(new Set(records.map((record) => record?.transactionHash)).size).toBe(1);
  const receipt = await op.world.chain.ask<{ gasUsed: string; logs: { topics: string[] }[] }>(
    'eth_getTransactionReceipt',
    records[0]?.transactionHash,
  );
  const failed = EXCHANGE.getEvent('MatchFailed')?.topicHash;
  expect(receipt.logs.filter(({ topics }) => topics[0] === failed)).toEqual([]);
  // They burnt nearly all that they may.
  expect(Number(receipt.gasUsed)).toBeGreaterThan(burners.length * 110_000);
});

test('a transaction that the node loses is sent again under the same nonce, for a price that nodes take', async () => {
  const nonce = await nonceOf(0);
  node.swallow();
  node.refuseSmallBumps();
  const key = await matchAny();
  operate([0]);
  await soon('there are two attempts', async () => ((await op.intents.list())[0]?.hashes.length ?? 0) > 1);
  node.heal();
  node.refuseSmallBumps();
  await confirmed([key]);
  expect((await op.settlements.find(key))?.attempts).toBeGreaterThan(1);
  expect(await nonceOf(0)).toBe(nonce + 1);
  expect(op.errors).toEqual([]);
});

test('a transaction whose price the chain has left behind is raised to the price of now', async () => {
  const key = await matchAny();
  operate([0], async (step) => {
    if (step === 'built') await op.world.chain.ask('anvil_setNextBlockBaseFeePerGas', DEAR);
  });
  await confirmed([key]);
  expect((await op.settlements.find(key))?.attempts).toBeGreaterThan(1);
});

test('a call that the contract refuses now is replaced by an empty one, and its matches wait until it no longer does', async () => {
  node.swallow();
  const key = await matchAny();
  operate([0]);
  await is(key, 'SUBMITTED');
  const { world } = op;
  await world.call(world.admin.address, 'pauseTrading');
  await soon(
    'the empty one is signed',
    async () => ((await op.intents.list())[0]?.bytes.length ?? 999) < 500,
  );
  node.heal();
  await is(key, 'RETRYING');
  expect(await op.intents.list()).toEqual([]);
  await world.call(world.admin.address, 'unpauseTrading');
  await confirmed([key]);
});

test('a lane without gas rests, and the other one sends', async () => {
  const balance = (wei: bigint) => op.world.chain.ask('anvil_setBalance', laneOf(0), `0x${wei.toString(16)}`);
  await balance(1n);
  try {
    const operator = operate([0, 1]);
    const keys = [await matchAny(), await matchAny(1)];
    await confirmed(keys);
    const poor = operator.status().find(({ address }) => address === laneOf(0));
    expect(poor?.open).toBe(0);
  } finally {
    await balance(10n ** 21n);
  }
});

async function sendOutside(n: number, nonce: number): Promise<void> {
  const wallet = new Wallet(op.operators[n]?.key.privateKey ?? '');
  const bytes = await wallet.signTransaction({
    chainId: 97,
    nonce,
    to: wallet.address,
    gasLimit: 21_000n,
    gasPrice: 100n * 10n ** 9n,
    type: 0,
  });
  await op.world.chain.ask('eth_sendRawTransaction', bytes);
}
const nonceOf = async (n: number): Promise<number> =>
  Number(await op.world.chain.ask<string>('eth_getTransactionCount', laneOf(n), 'latest'));

test('matches whose nonce was used outside wait again, and are settled under another', async () => {
  node.swallow();
  const key = await matchAny();
  operate([0]);
  await is(key, 'SUBMITTED');
  await sendOutside(0, await nonceOf(0));
  await soon(
    'the intent is over',
    async () =>
      (await op.intents.list()).every(({ nonce }) => nonce > 0 && nonce !== 0) &&
      (await op.statusOf(key)) !== 'SUBMITTED',
  );
  node.heal();
  await confirmed([key]);
  expect(op.errors.join()).toContain('settled none of its matches');
});

test('a lane whose next nonce was used outside stops until it is adopted, and the other one sends', async () => {
  await sendOutside(0, await nonceOf(0));
  const before = await nonceOf(0);
  await soon(
    'it is mined',
    async () =>
      ((await nonceOf(0)) > before - 1 && (await nonceOf(0)) === before + 1) || (await nonceOf(0)) > before,
  );
  const operator = operate([0, 1]);
  await soon('the lane stops', () =>
    operator.status().some(({ address, state }) => address === laneOf(0) && state === 'AHEAD'),
  );
  const keys = [await matchAny(), await matchAny(1)];
  await confirmed(keys);
  const next = await nonceOf(0);
  expect(await op.intents.moveLane(laneOf(0), { from: 'AHEAD', to: 'RUNNING', nextNonce: next })).toBe(true);
  await operator.stop();
  operate([0]);
  await confirmed([await matchAny(2)]);
  expect(await nonceOf(0)).toBe(next + 1);
});

test('a transaction of a key that was taken out is sent and ended by the process that has the others', async () => {
  node.swallow();
  const key = await matchAny();
  const before = operate([0]);
  await is(key, 'SUBMITTED');
  await before.stop();
  const [intent] = await op.intents.list();
  node.heal();
  operate([1]);
  await confirmed([key]);
  expect(intent?.hashes).toContain((await op.settlements.find(key))?.transactionHash);
});

test('two operators with the same keys settle every match once', async () => {
  operate([0, 1]);
  operate([0, 1]);
  const keys: Key[] = [];
  for (let n = 0; n < 12; n++) keys.push(await matchAny(n));
  await confirmed(keys);
});

test('two operators with a lane each settle every match once', async () => {
  operate([0]);
  operate([1]);
  const keys: Key[] = [];
  for (let n = 0; n < 12; n++) keys.push(await matchAny(n));
  await confirmed(keys);
});

/** A node that blames this wallet for every match. */
async function startSlanderer(wallet: string): Promise<{ url: string; stop(): void }> {
  const why = EXCHANGE.getError('NotEnoughAllowance')?.selector;
  const data = EXCHANGE.encodeErrorResult('Fault', [wallet, why]);
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { id, method, params } = JSON.parse(Buffer.concat(parts).toString());
    const isMatch = method === 'eth_call' && params[0].from === op.world.exchange;
    const reply = isMatch
      ? { error: { code: 3, message: 'execution reverted', data } }
      : await post(op.world.anvil.url, method, params);
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ id, ...reply }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, stop: () => void server.close().closeAllConnections() };
}

test('one of three nodes that blames a wallet for every match neither ends nor holds up one', async () => {
  const slanderer = await startSlanderer(one(0).address);
  const operator = op.operate([0], { nodeUrls: [slanderer.url, node.url, op.world.anvil.url] });
  stopping.push(operator.stop, async () => slanderer.stop());
  await confirmed([await matchAny(), await matchAny(1)]);
});
