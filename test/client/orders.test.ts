import { sendCalls } from 'ctf-exchange-client';
import type { OpenMarket } from '../support/trader';
import { startTypedClients, type Trader, type TypedClients } from '../support/typed-clients';

let stage: TypedClients;
let market: OpenMarket;
let alice: Trader;
let bob: Trader;

beforeAll(async () => {
  stage = await startTypedClients();
  [alice, bob] = await Promise.all([stage.trader(), stage.trader()]);
});
afterAll(() => stage.stop());
beforeEach(async () => {
  market = await stage.market();
});

const place = ({ client, wallet }: Trader, order: Parameters<Trader['client']['placeOrder']>[2]) =>
  client.placeOrder(wallet, market.id, order);

describe('placing orders', () => {
  it('lets an order rest, match through the other outcome, and be seen everywhere', async () => {
    const resting = await place(bob, { outcomeIndex: 1, side: 'BUY', price: '0.45', size: '100' });
    expect(resting).toMatchObject({ status: 'OPEN', size: '100', replayed: false });
    const taken = await place(alice, { outcomeIndex: 0, side: 'BUY', price: '0.6', size: '40' });
    expect(taken).toMatchObject({ status: 'FILLED', averagePrice: '0.55' });
    expect(taken.fills).toMatchObject([{ matchType: 'MINT', size: '40', price: '0.55' }]);
    expect(await alice.client.order(taken.orderHash)).toMatchObject({ order: taken.signed });
    expect((await bob.client.order(taken.orderHash)).order).toBeUndefined();
    const { data } = await alice.client.trades(market.slug);
    expect(data).toMatchObject([{ takerOrderHash: taken.orderHash, makerOrderHash: resting.orderHash }]);
    expect((await bob.client.orders({ status: 'open', marketId: market.id })).data).toMatchObject([
      { orderHash: resting.orderHash, remainingSize: '60' },
    ]);
  });

  it('takes no member that an order does not have, and no time in seconds', async () => {
    const order = { outcomeIndex: 0, side: 'BUY', price: '0.3', size: '5' } as const;
    const misnamed = { ...order, expiration: 1 };
    await expect(place(bob, misnamed)).rejects.toThrow(
      /^expiration is no member of an order, which has outcomeIndex, .*expiresAt/,
    );
    const seconds = Math.floor(Date.now() / 1_000) + 600;
    await expect(place(bob, { ...order, expiresAt: seconds })).rejects.toThrow(
      new RangeError(`expiresAt must be a Date or in milliseconds since 1970, before 2100, not ${seconds}`),
    );
    const placed = await place(bob, { ...order, expiresAt: seconds * 1_000 });
    expect(placed.signed.expiration).toBe(String(seconds));
  });

  it('ends the signature of an order that never rests 300 s ahead by the clock of the exchange', async () => {
    const order = { outcomeIndex: 0, side: 'BUY', price: '0.3', size: '5' } as const;
    let aheadMs = 400_000;
    const { client, wallet } = await stage.trader({
      fetch: async (url, init) => {
        const answer = await fetch(url, init);
        if (!url.endsWith('/time')) return answer;
        const { timestamp } = (await answer.json()) as { timestamp: number };
        return Response.json({ timestamp: timestamp + aheadMs });
      },
    });
    const aheadSec = ({ signed }: { readonly signed: { readonly expiration: string } }) =>
      Number(signed.expiration) - Date.now() / 1_000;
    for (const orderType of ['MARKET', 'IOC'] as const) {
      const placed = await client.placeOrder(wallet, market.id, { ...order, orderType });
      // By its own clock it would be 300.
      expect(aheadSec(placed)).toBeGreaterThan(600);
      expect(aheadSec(placed)).toBeLessThan(701);
    }
    expect((await client.placeOrder(wallet, market.id, order)).signed.expiration).toBe('0');
    const expiresAt = Date.now() + 3_600_000;
    const own = await client.placeOrder(wallet, market.id, { ...order, orderType: 'IOC', expiresAt });
    expect(own.signed.expiration).toBe(String(Math.floor(expiresAt / 1_000)));
    const [inBatch] = await client.batch(wallet, market.id, [{ ...order, orderType: 'IOC' }]);
    const { orderHash } = (inBatch as { order: { orderHash: string } }).order;
    expect(Number((await client.order(orderHash)).expiration)).toBeGreaterThan(Date.now() / 1_000 + 600);
    // A clock that was wrong when it was read: the refusal makes the client read it again.
    aheadMs = -3_600_000;
    const late = await stage.trader({
      fetch: async (url, init) => {
        const answer = await fetch(url, init);
        if (!url.endsWith('/time') || aheadMs === 0) return answer;
        aheadMs = 0;
        return Response.json({ timestamp: Date.now() - 3_600_000 });
      },
    });
    const placed = await late.client.placeOrder(late.wallet, market.id, { ...order, orderType: 'IOC' });
    expect(placed).toMatchObject({ status: 'CANCELLED', reason: 'IOC_REMAINDER' });
    expect(aheadSec(placed)).toBeGreaterThan(200);
  });

  it('says what a contract needs as a signer of transactions', async () => {
    const { address } = bob.wallet;
    const signer = { address, isContract: true } as unknown as typeof bob.wallet;
    const node = { rpcUrl: 'http://127.0.0.1:1', chainId: 56 };
    const call = { to: address, data: '0x', description: 'nothing' };
    await expect(sendCalls({ ...node, signer }, [call])).rejects.toThrow('needs execute(node, calls)');
  });

  it('books one signed order once, however often it is sent', async () => {
    const first = await place(bob, { outcomeIndex: 0, side: 'BUY', price: '0.3', size: '5' });
    const again = await bob.client.submitOrder(market.id, { order: first.signed });
    expect(again).toEqual({ ...first, replayed: true });
    expect((await bob.client.market(market.id)).sequence).toBe(first.sequence);
  });

  it('replaces an order once, however often the replacement is sent', async () => {
    const order = { outcomeIndex: 0, side: 'BUY', price: '0.3', size: '5' } as const;
    const old = await place(bob, order);
    const { client, wallet } = bob;
    const moved = await client.replace(wallet, market.id, old.orderHash, { ...order, price: '0.31' });
    expect(moved).toMatchObject({
      status: 'OPEN',
      replayed: false,
      replaced: { orderHash: old.orderHash, filledSize: '0', cancelledSize: '5' },
    });
    const again = await client.submitReplacement(market.id, old.orderHash, { order: moved.signed });
    expect(again).toEqual({ ...moved, replayed: true });
    expect(await client.order(old.orderHash)).toMatchObject({ status: 'CANCELLED', reason: 'REPLACED' });
    await expect(client.replace(wallet, market.id, old.orderHash, order)).rejects.toMatchObject({
      code: 'ORDER_NOT_CANCELLABLE',
    });
  });

  it('sends market orders with a budget and a worst price', async () => {
    await bob.client.split(market.id, '100');
    await place(bob, { outcomeIndex: 0, side: 'SELL', price: '0.5', size: '10' });
    await place(bob, { outcomeIndex: 0, side: 'SELL', price: '0.6', size: '10' });
    const limited = await place(alice, {
      outcomeIndex: 0,
      side: 'BUY',
      orderType: 'MARKET',
      budget: '8',
      price: '0.55',
    });
    expect(limited).toMatchObject({ status: 'CANCELLED', filledSize: '10', averagePrice: '0.5' });
    const free = await place(alice, {
      outcomeIndex: 0,
      side: 'BUY',
      orderType: 'MARKET',
      budget: '3',
      price: '0.9',
    });
    expect(free).toMatchObject({ status: 'FILLED', filledSize: '5', averagePrice: '0.6' });
    await place(bob, { outcomeIndex: 0, side: 'BUY', price: '0.2', size: '4' });
    const sold = await place(alice, {
      outcomeIndex: 0,
      side: 'SELL',
      orderType: 'MARKET',
      size: '6',
      price: '0.1',
    });
    expect(sold).toMatchObject({ status: 'CANCELLED', filledSize: '4', averagePrice: '0.2' });
  });
});

describe('collateral with other decimals', () => {
  let sixes: TypedClients;
  beforeAll(async () => {
    sixes = await startTypedClients({ COLLATERAL_DECIMALS: '6' });
  });
  afterAll(() => sixes.stop());

  it('is read from the exchange, unless the caller passes its decimals', async () => {
    const { id } = await sixes.market();
    const [asks, knows, errs] = await Promise.all([
      sixes.trader(),
      sixes.trader({ decimals: 6 }),
      sixes.trader({ decimals: 18 }),
    ]);
    const order = { outcomeIndex: 0, side: 'BUY', price: '0.3', size: '5' } as const;
    for (const { client, wallet } of [asks, knows]) {
      const placed = await client.placeOrder(wallet, id, order);
      expect(placed).toMatchObject({ status: 'OPEN', price: '0.3', size: '5' });
      expect(placed.signed).toMatchObject({ makerAmount: '1500000', takerAmount: '5000000' });
    }
    expect((await asks.client.config()).limits.collateralDecimals).toBe(6);
    await expect(errs.client.placeOrder(errs.wallet, id, order)).rejects.toMatchObject({
      code: 'SIZE_OUT_OF_RANGE',
    });
  });
});
