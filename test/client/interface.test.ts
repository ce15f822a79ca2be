import type * as client from 'ctf-exchange-client';
import { isBooked } from 'ctf-exchange-client';
import type { presentComment, presentMe, presentProfile } from '../../src/extensions/people/wire/answers';
import type {
  presentHolders,
  presentLeaderboard,
  presentMarketTrade,
  presentPosition,
  presentTradeActivity,
} from '../../src/extensions/portfolio/wire/answers';
import type { presentBalances, presentSession } from '../../src/wire/answers/account';
import type { presentOrderbook } from '../../src/wire/answers/book';
import type { presentCandles } from '../../src/wire/answers/candles';
import type {
  presentExchange,
  presentHeartbeat,
  presentResumed,
  presentUpdate,
} from '../../src/wire/answers/events';
import type { presentHistory } from '../../src/wire/answers/history';
import type {
  presentEvent,
  presentMarket,
  presentTicker,
  presentTrading,
} from '../../src/wire/answers/market';
import type {
  presentCancel,
  presentOrder,
  presentOrderFill,
  presentReplaced,
  presentSubmission,
} from '../../src/wire/answers/order';
import type { presentTrade, presentTradeOf } from '../../src/wire/answers/trade';
import type { presentProblem } from '../../src/wire/problem';
import { API_PATHS } from '../support/api';
import type { OpenMarket } from '../support/trader';
import { startTypedClients, type TypedClients } from '../support/typed-clients';

/** Every member of a body, as a path: 'outcomes.price'. */
type Members<T> = T extends readonly (infer E)[]
  ? Members<E>
  : T extends object
    ? { [K in keyof T & string]: K | `${K}.${Members<NonNullable<T[K]>>}` }[keyof T & string]
    : never;
type Differences<A, B> = Exclude<Members<A>, Members<B>> | Exclude<Members<B>, Members<A>>;
/** Both types have the same members. */
type SameMembers<Server, Client> = [Differences<Server, Client>] extends [never]
  ? true
  : Differences<Server, Client>;
/** The answers of the exchange have the types of the client. */
type Same<Server extends Client, Client> = SameMembers<Server, Client>;
type Of<T extends (...args: never[]) => unknown> = ReturnType<T>;
type Trading = Of<typeof presentTrading>;

/** The type checker compares: `true` is allowed only where both sides are equal. */
const BODIES: readonly [
  Same<Of<typeof presentMarket>, client.Market>,
  Same<Of<typeof presentEvent>, client.MarketEvent>,
  SameMembers<Of<typeof presentOrderbook>, client.Orderbook>,
  Same<Of<typeof presentTicker>, client.Ticker>,
  SameMembers<Of<typeof presentHistory>, client.PriceHistory>,
  Same<Of<typeof presentCandles>, client.Candles>,
  Same<Of<typeof presentTrade>, client.Trade>,
  Same<Of<typeof presentSubmission>, client.Submission>,
  Same<Of<typeof presentSubmission> & { replaced: Of<typeof presentReplaced> | null }, client.Replacement>,
  Same<Of<typeof presentOrder>, client.Order>,
  Same<Of<typeof presentOrderFill>, client.OrderFill>,
  Same<Of<typeof presentCancel>, client.Cancelled>,
  Same<Of<typeof presentBalances>, client.Balances>,
  Same<Of<typeof presentPosition>, client.Position>,
  Same<Of<typeof presentTradeOf>, client.OwnTrade>,
  Same<Of<typeof presentTradeActivity>, client.Activity>,
  Same<Of<typeof presentHolders>, client.Holders>,
  Same<Of<typeof presentLeaderboard>, client.Leaderboard>,
  Same<Of<typeof presentMarketTrade>, client.MarketTrade>,
  Same<Of<typeof presentSession>, client.Tokens>,
  Same<Of<typeof presentMe>, client.Me>,
  Same<Of<typeof presentProfile>, client.Profile>,
  Same<Of<typeof presentComment>, client.Comment>,
  Same<Of<typeof presentUpdate>, client.BookUpdate>,
  Same<Of<typeof presentResumed>, client.AccountResumed>,
  Same<Of<typeof presentHeartbeat>, client.Heartbeat>,
  Same<Of<typeof presentExchange>, client.ExchangeState>,
  SameMembers<
    Omit<Trading, 'eip712' | 'orderbook'>,
    Omit<client.Trading, 'eip712' | 'orderbook' | 'serverTime'>
  >,
  SameMembers<Omit<Of<typeof presentProblem>, 'errors'>, Pick<client.Problem, ProblemMember>>,
] = [
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
];
type ProblemMember = 'type' | 'title' | 'status' | 'code' | 'detail' | 'requestId' | 'retryable';

let stage: TypedClients;
let market: OpenMarket;
const asked = new Set<string>();

beforeAll(async () => {
  stage = await startTypedClients();
  market = await stage.market({ event: { slug: 'an-event', title: 'An event' } });
});
afterAll(() => stage.stop());

/** The path of a request, in the form of the interface. */
function patternOf(path: string): string | undefined {
  if (API_PATHS.includes(path)) return path;
  return API_PATHS.find((pattern) => new RegExp(`^${pattern.replace(/\{[a-z_]+\}/g, '[^/]+')}$`).test(path));
}

/** Paths for operators, for the platform and for the charting library, and paths that the client reaches by others. */
const NOT_FOR_CLIENTS =
  /^\/(admin\/.*|livez|readyz|metrics|openapi\.json|asyncapi\.json|docs|udf\/.*|markets\/\{id\}\/orders\/cancel|)$/;

test('the client can call every path of the interface, and no other path', async () => {
  expect(BODIES.every(Boolean)).toBe(true);
  const strange: string[] = [];
  const { client, wallet } = await stage.trader({
    fetch: (url, init) => {
      const { pathname } = new URL(url);
      const pattern = patternOf(pathname);
      if (pattern === undefined) strange.push(pathname);
      else asked.add(pattern);
      return fetch(url, init);
    },
  });
  const order = { outcomeIndex: 0, side: 'BUY', price: '0.4', size: '10' } as const;
  const placed = await client.placeOrder(wallet, market.slug, order);
  const moved = await client.replace(wallet, market.id, placed.orderHash, order);
  expect(moved.replaced).toEqual({ orderHash: placed.orderHash, filledSize: '0', cancelledSize: '10' });
  const [batched] = await client.batch(wallet, market.id, [order]);
  if (!batched || !isBooked(batched)) throw new Error('the order of the batch was not booked');
  const id = market.conditionId;
  const { orderHash } = batched.order;
  const page = { data: expect.any(Array), nextCursor: null };
  expect(await Promise.all([client.config(), client.time(), client.categories(), client.market(id)])).toEqual(
    [
      expect.objectContaining({ chainId: 97, epoch: expect.any(String) }),
      { timestamp: expect.any(Number) },
      [expect.objectContaining({ count: 1 })],
      expect.objectContaining({ id: market.id }),
    ],
  );
  const lists = [
    client.markets(),
    client.trades(id),
    client.marketActivity(id),
    client.orders(),
    client.positions(),
    client.myTrades(),
  ];
  expect(await Promise.all([...lists, client.activity(), client.comments(id)])).toEqual(Array(8).fill(page));
  const maker = { address: wallet.address, portfolioPublic: true };
  const flags = { hidden: null, portfolioPublic: null };
  expect(await client.updateProfile(flags)).toMatchObject({ hidden: false, portfolioPublic: false });
  expect(await client.updateProfile({ portfolioPublic: true })).toMatchObject(maker);
  expect(await client.positionsOf(wallet.address, { status: 'open' })).toEqual(page);
  expect(await client.portfolioOf(wallet.address, '1w')).toMatchObject({ value: expect.any(String) });
  expect(await client.holders(id, { outcomeIndex: 1 })).toEqual({
    marketId: market.id,
    outcomeIndex: 1,
    count: 0,
    data: [],
  });
  expect(await client.leaderboard({ limit: 5 })).toEqual({
    startsAt: expect.stringMatching(/T00:00:00.000Z$/),
    endsAt: expect.stringMatching(/T00:00:00.000Z$/),
    asOf: null,
    data: [],
  });
  expect((await client.orderbook(id, { depth: 1 })).bids).toEqual([{ price: '0.4', size: '20', orders: 2 }]);
  expect((await client.ticker(id)).outcomes[0]?.bestBidSize).toBe('20');
  expect((await client.portfolio('1h')).history.at(-1)?.value).toBe('1000000');
  expect(await client.version()).toMatchObject({ version: expect.any(String), layout: expect.any(Number) });
  expect((await client.orderbooks([id], { depth: 1 }))[0]?.bids[0]?.orders).toBe(2);
  expect((await client.tickers([id])).map(({ marketId }) => marketId)).toEqual([market.id]);
  expect((await client.event('an-event')).markets.map(({ slug }) => slug)).toEqual([market.slug]);
  expect((await client.priceHistory(id, '1h')).interval).toBe(60);
  expect(await client.candles(id, { interval: '5m', from: 0, outcomeIndex: 1, limit: 1 })).toEqual({
    marketId: market.id,
    interval: '5m',
    outcomeIndex: 1,
    candles: [],
  });
  expect((await client.order(orderHash)).order?.maker).toBe(wallet.address);
  expect(await client.orderFills(orderHash)).toEqual({ data: [], nextCursor: null });
  expect(await client.cancel(orderHash)).toMatchObject({ cancelled: true });
  expect(await client.cancelMany([moved.orderHash, orderHash])).toEqual({
    cancelled: [moved.orderHash],
    notCancelled: { [orderHash]: 'ORDER_NOT_CANCELLABLE' },
  });
  expect(await client.cancelAll({ marketId: id, outcomeIndex: 0, side: 'BUY' })).toMatchObject({ count: 0 });
  expect(await client.cancelAll()).toMatchObject({ count: 0 });
  expect((await client.split(id, '5')).tokens).toHaveLength(2);
  expect((await client.merge(id, '5')).tokens.every(({ total }) => total === '0')).toBe(true);
  await expect(client.redeem(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect((await client.balances()).collateral.reserved).toBe('0');
  await client.faucet();
  await talk(client, id, wallet.address);
  const { key, ...made } = await client.createApiKey({ name: 'a bot', scopes: ['read'] });
  expect([key.startsWith('key_'), await client.apiKeys()]).toEqual([true, [made]]);
  await client.deleteApiKey(made.id);
  const next = await client.raiseNonce();
  expect(next).toEqual({ nonce: '1' });
  // A batch is not signed again, so it needs the new nonce at once.
  expect(await client.batch(wallet, id, [order])).toMatchObject([{ status: 200 }]);
  expect((await client.placeOrder(wallet, id, order)).signed.nonce).toBe('1');
  client.useSession({ ...(client.session as client.Session), expiresAt: 0 });
  expect(await client.me()).toMatchObject({ address: wallet.address, bio: 'a bio' });
  await client.signOut();
  expect(strange).toEqual([]);
  const missing = API_PATHS.filter((path) => !asked.has(path) && !NOT_FOR_CLIENTS.test(path));
  expect(missing).toEqual([]);
});

/** A profile, and a comment with everything that can be done to it. */
async function talk(one: client.Client, marketId: string, address: string): Promise<void> {
  expect(await one.updateProfile({ bio: 'a bio' })).toMatchObject({ bio: 'a bio', username: null });
  expect(await one.profile(address)).toMatchObject({ address, bio: 'a bio' });
  const comment = await one.postComment(marketId, 'first');
  const reply = await one.postComment(marketId, 'second', comment.id);
  expect(reply).toMatchObject({ parentId: comment.id, body: 'second', likes: 0, deleted: false });
  expect(await one.likeComment(comment.id)).toMatchObject({ likes: 1 });
  await one.unlikeComment(comment.id);
  await one.deleteComment(reply.id);
  expect((await one.comments(marketId)).data).toHaveLength(2);
  expect((await one.myComments({ limit: 2 })).data.map(({ id }) => id)).toEqual([comment.id]);
}
