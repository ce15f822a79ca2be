import { randomUUID } from 'node:crypto';
import { hashMessage, TypedDataEncoder, Wallet } from 'ethers';
import { EIP712_ORDER_TYPES } from '../../../src/auth/order-hash';
import { decodeOrder } from '../../../src/store/records/order';
import { signedOf } from '../../../src/store/records/signed-order';
import { createContractWallet } from '../../extensions/chain/contract-wallet';
import { type Nodes, startNodes } from '../../extensions/chain/nodes';
import { CODE } from '../../extensions/chain/stories';
import { type Answer, patiently } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import {
  createTrader,
  type Domain,
  domainOf,
  type Limit,
  type Market,
  openMarket,
  siweText,
  type Trader,
  type WireOrder,
} from '../../support/trader';
import { until } from '../../support/waiting';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

/** Contract wallets order and sign in with paper funds, on two nodes of a local chain. */
let nodes: Nodes;
let exchange: WebReplicas;
let domain: Domain;
let market: Market;
let alice: Trader;

const BID: Limit = { side: 'BUY', outcome: 0, pips: 4_000, lots: 1_000 };
const ASK: Limit = { side: 'BUY', outcome: 1, pips: 6_000, lots: 1_000 };

beforeAll(async () => {
  nodes = await startNodes(2);
  exchange = await startWebReplicas({
    env: { CHAIN_RPC_URL: nodes.proxies.map(({ url }) => url).join(',') },
  });
  domain = await domainOf(exchange.client);
});
beforeEach(async () => {
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  alice = createTrader(exchange.client, domain);
});
afterEach(() => {
  nodes.heal();
  for (const proxy of nodes.proxies) proxy.forget();
});
afterAll(async () => {
  await exchange?.stop();
  await nodes?.stop();
});

const asked = (): number => Math.max(...nodes.proxies.map((proxy) => proxy.asked.get('eth_call') ?? 0));
const digestOf = (fields: Record<string, unknown>): string =>
  TypedDataEncoder.hash(domain, EIP712_ORDER_TYPES, fields);
const newAddress = (): string => Wallet.createRandom().address;
const newWallet = () => createContractWallet(nodes.ask, newAddress());
type ContractWallet = Awaited<ReturnType<typeof newWallet>>;

/** The unsigned members of an order of a contract. */
function fieldsOf(address: string, limit: Limit, more: Record<string, unknown> = {}) {
  return { ...alice.fields(market, limit), maker: address, signer: address, signatureType: 3, ...more };
}

async function orderOf(wallet: ContractWallet, limit: Limit, bytes?: number, more = {}): Promise<WireOrder> {
  const fields = fieldsOf(wallet.address, limit, more);
  return { ...fields, signature: await wallet.sign(digestOf(fields), bytes) };
}

async function unsigned(code: string, limit = BID): Promise<WireOrder> {
  const address = newAddress();
  await nodes.ask('anvil_setCode', address, code);
  return { ...fieldsOf(address, limit), signature: '0x1234' };
}

const send = (order: WireOrder, body: object = {}, path = ''): Promise<Answer> =>
  exchange.client.post(`/markets/${market.id}/orders${path}`, { body: { order, ...body } });

/** The answer of a chain that a busy machine may keep waiting. */
const answered = (order: WireOrder, body?: object, path?: string): Promise<Answer> =>
  patiently(() => send(order, body, path));

test('an order that a contract wallet signed is booked and meets the order of a key', async () => {
  const wallet = await newWallet();
  const order = await orderOf(wallet, BID);
  const { status, body } = await answered(order);
  expect([status, body]).toMatchObject([200, { status: 'OPEN', orderHash: digestOf(order) }]);
  const met = await alice.submit(market, ASK);
  expect(met.body).toMatchObject({ status: 'FILLED', fills: [{ makerOrderHash: body.orderHash }] });
  expect((await exchange.client.get('/config')).body.signatureTypes).toEqual([0, 3]);
});

test.each([0, 1, 64, 65, 66, 1_024])(
  'a signature of %i bytes is stored as it was sent, and a raised nonce finds its order',
  async (bytes) => {
    const wallet = await newWallet();
    const order = await orderOf(wallet, BID, bytes, { salt: String(2n ** 256n - 1n) });
    const { orderHash } = (await answered(order, { clientOrderId: 'mine' })).body;
    const { redis, keys, engine } = exchange.store;
    const packed = await redis.hgetBuffer(keys.orders, Buffer.from(orderHash.slice(2), 'hex'));
    const record = decodeOrder(orderHash, packed ?? Buffer.alloc(0));
    const [yes = '', no = ''] = market.outcomes.map(({ tokenId }) => tokenId);
    const { signature, signatureType, salt, signer, nonce } = signedOf(record, { tokenIds: [yes, no] });
    expect({ signature, signatureType, salt, signer, nonce }).toEqual({
      signature: order.signature,
      signatureType: 3,
      salt: 2n ** 256n - 1n,
      nonce: 0n,
      signer: wallet.address.toLowerCase(),
    });
    expect(record.clientOrderId).toBe('mine');
    const raised = await engine.raiseNonce(wallet.address, randomUUID());
    await engine.invalidate(wallet.address, raised.nonce);
    expect((await exchange.client.get(`/orders/${orderHash}`)).body).toMatchObject({ status: 'INVALIDATED' });
  },
);

test('a contract wallet signs in with a signature that it accepts, once, and with no other', async () => {
  const wallet = await newWallet();
  const outcome = async (body: object): Promise<string> => {
    const answer = await patiently(() => exchange.client.post('/auth/verify', { body }));
    return answer.body.user?.address ?? answer.body.code;
  };
  const signIn = async (sign: (digest: string) => Promise<string>) => {
    const message = siweText((await exchange.client.get(`/auth/nonce/${wallet.address}`)).body);
    const body = { message, signature: await sign(hashMessage(message)) };
    return [await outcome(body), await outcome(body)];
  };
  expect(await signIn((digest) => wallet.sign(digest))).toEqual([wallet.address, 'NONCE_INVALID']);
  expect(await signIn(async () => '0x1234')).toEqual(['SIWE_INVALID', 'NONCE_INVALID']);
});

test('a signature that is too long, or no bytes, is refused before the wallet is asked', async () => {
  const wallet = await newWallet();
  for (const signature of [`0x${'ab'.repeat(1_025)}`, '0x123', 'signed', '0x12zz']) {
    const refused = await send({ ...fieldsOf(wallet.address, BID), signature });
    expect(refused.body).toMatchObject({
      status: 400,
      code: 'INVALID_SIGNATURE',
      recovered: null,
      hint: null,
    });
    expect(refused.body.detail).toContain('at most 1024 bytes');
  }
  expect(asked()).toBe(0);
});

test('a wallet that refuses the signature, or is not deployed, has no order', async () => {
  for (const code of [CODE.reverts, CODE.burnsAllGas, CODE.answersNothing]) {
    const refused = await answered(await unsigned(code));
    expect(refused.body).toMatchObject({ code: 'INVALID_SIGNATURE', recovered: null, hint: null });
    expect(refused.body.detail).toContain('was asked about expectedHash');
  }
  const missing = await answered(await unsigned('0x'));
  expect(missing.body).toMatchObject({ code: 'INVALID_SIGNATURE' });
  expect(missing.body.detail).toContain('is not deployed');
});

test('a key cannot sign for a contract, and a contract not for another wallet', async () => {
  const wallet = await newWallet();
  const order = await orderOf(wallet, BID);
  const other = await send({ ...order, signer: alice.address });
  expect(other.body).toMatchObject({ code: 'INVALID_SIGNATURE', hint: 'SIGNER' });
  expect((await send({ ...order, signatureType: 0 })).body).toMatchObject({ code: 'INVALID_SIGNATURE' });
  for (const signatureType of [1, 2, 4]) {
    const refused = await send({ ...order, signatureType });
    expect(refused.body).toMatchObject({ code: 'UNSUPPORTED_SIGNATURE_TYPE' });
  }
  expect(asked()).toBe(0);
});

test('an order that is refused anyway costs the nodes nothing', async () => {
  const wallet = await newWallet();
  const wrong: [Record<string, unknown>, string][] = [
    [{ taker: alice.address }, 'INVALID_TAKER'],
    [{ feeRateBps: '7' }, 'INVALID_FEE_RATE'],
    [{ nonce: '9' }, 'INVALID_NONCE_VALUE'],
    [{ makerAmount: '0' }, 'SIZE_OUT_OF_RANGE'],
    [{ expiration: '1' }, 'ORDER_EXPIRED'],
  ];
  for (const [more, code] of wrong) {
    const refused = await send(await orderOf(wallet, BID, 97, more));
    expect(refused.body).toMatchObject({ code });
  }
  expect(asked()).toBe(0);
});

test('while no node answers, orders of contracts are UNAVAILABLE, and those of keys are booked', async () => {
  const wallet = await newWallet();
  const before = await orderOf(wallet, BID);
  expect((await answered(before)).status).toBe(200);
  const after = await orderOf(wallet, { ...BID, pips: 3_900 });
  for (const proxy of nodes.proxies) proxy.drop();
  const refused = await send(after);
  expect(refused.body).toMatchObject({ status: 503, code: 'UNAVAILABLE', retryable: true });
  expect((await alice.submit(market, { ...BID, pips: 3_000 })).status).toBe(200);
  const again = await send(before);
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  expect((await exchange.client.get('/readyz')).status).toBe(200);
  nodes.heal();
  expect((await answered(after)).body).toMatchObject({ status: 'OPEN' });
});

test('an order that was accepted before asks no node, whatever its wallet says by now', async () => {
  const wallet = await newWallet();
  const order = await orderOf(wallet, BID);
  await answered(order);
  await wallet.revoke();
  for (const proxy of nodes.proxies) proxy.forget();
  const again = await send(order);
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  expect(asked()).toBe(0);
});

test('a signature that the wallet refuses costs its address as much as that of a wrong key', async () => {
  const { client, stop } = await exchange.replica({ RATE_LIMIT: 'on' });
  const [key, microsEach, told] = ['rl:submissions:127.0.0.1', 5_000, 20];
  // As if the address had just used 399 points elsewhere: none comes back while the test lasts.
  const whole = Date.now() * 1_000 + 399 * microsEach;
  await exchange.store.redis.set(key, whole);
  const order = await unsigned(CODE.reverts);
  const codes: string[] = [];
  for (let n = 0; n < told - 1 && codes.filter((code) => code === 'INVALID_SIGNATURE').length < 4; n++)
    codes.push((await client.post(`/markets/${market.id}/orders`, { body: { order } })).body.code);
  await until('twenty points are reported', async () => {
    const points = (Number(await exchange.store.redis.get(key)) - whole) / microsEach;
    return points >= told;
  });
  expect(codes.length).toBeLessThan(told);
  await stop();
});

test('each answer of a wallet is counted', async () => {
  const { client, stop } = await exchange.replica();
  const wallet = await newWallet();
  for (const order of [await orderOf(wallet, BID), await unsigned(CODE.reverts), await unsigned('0x')])
    await patiently(() => client.post(`/markets/${market.id}/orders`, { body: { order } }));
  await until('all are counted', async () => {
    const { text } = await client.get('/metrics');
    return ['valid', 'invalid', 'undeployed'].every((result) =>
      text.includes(`exchange_wallet_signatures_total{result="${result}"} 1`),
    );
  });
  await stop();
});

test('a replacement asks the wallet, and without its signature the old order rests on', async () => {
  const wallet = await newWallet();
  const old = (await answered(await orderOf(wallet, BID))).body.orderHash;
  const message = siweText((await exchange.client.get(`/auth/nonce/${wallet.address}`)).body);
  const signature = await wallet.sign(hashMessage(message));
  const { accessToken: token } = (
    await patiently(() => exchange.client.post('/auth/verify', { body: { message, signature } }))
  ).body;
  const replace = (order: WireOrder) =>
    patiently(() =>
      exchange.client.post(`/markets/${market.id}/orders/${old}/replace`, { body: { order }, token }),
    );
  const next = await orderOf(wallet, { ...BID, pips: 4_500 });
  expect((await replace({ ...next, signature: '0x1234' })).body).toMatchObject({ code: 'INVALID_SIGNATURE' });
  expect((await exchange.client.get(`/orders/${old}`)).body).toMatchObject({ status: 'OPEN' });
  expect((await replace(next)).body).toMatchObject({ status: 'OPEN', replaced: { orderHash: old } });
});

test('a batch and a dry run ask the wallet as well, and its orders keep their places', async () => {
  const [wallet, other] = [await newWallet(), await newWallet()];
  const [own, stranger] = [await orderOf(wallet, BID), await orderOf(other, BID)];
  await other.revoke();
  const [met, sold] = [await alice.order(market, ASK), await orderOf(wallet, { ...BID, side: 'SELL' })];
  const orders = [own, stranger, met, sold].map((order) => ({ order }));
  let results: Answer['body'][] = [];
  await until('the chain answers', async () => {
    results = (await exchange.client.post(`/markets/${market.id}/orders/batch`, { body: { orders } })).body
      .results;
    return results.every(({ code }) => code !== 'UNAVAILABLE');
  });
  const [refused, filled] = [{ code: 'INVALID_SIGNATURE' }, { order: { status: 'FILLED' } }];
  expect(results).toMatchObject([{ status: 200 }, refused, filled, { order: { status: 'OPEN' } }]);
  const dry = await answered(await orderOf(wallet, { ...BID, pips: 1_000 }), {}, '?dryRun=true');
  expect(dry.body).toMatchObject({ status: 'OPEN' });
  expect((await answered({ ...stranger, salt: '1' }, {}, '?dryRun=true')).body).toMatchObject(refused);
  expect((await exchange.client.get(`/orders/${dry.body.orderHash}`)).status).toBe(404);
});

test('orders of keys are booked while sixteen contract wallets keep the nodes busy', async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  for (const proxy of nodes.proxies)
    proxy.forge(async ({ method }, result) => {
      if (method === 'eth_call') await held;
      return result;
    });
  const burners = await Promise.all(Array.from({ length: 16 }, () => unsigned(CODE.burnsAllGas)));
  const checks = Promise.all(burners.map((order) => send(order)));
  await until('nodes are busy', () => asked() > 0);
  for (let n = 1; n <= 10; n++)
    expect((await alice.submit(market, { ...BID, pips: 100 * n })).body).toMatchObject({ status: 'OPEN' });
  release();
  for (const { body } of await checks) expect(['INVALID_SIGNATURE', 'UNAVAILABLE']).toContain(body.code);
});
