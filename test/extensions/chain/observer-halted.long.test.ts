import { matchId } from '../../../src/chain/exchange-contract';
import { settlementId } from '../../../src/store/records/settlement';
import { until } from '../../support/waiting';
import { LIKE_BSC } from './anvil';
import { deal, traders } from './deals';
import { type Followed, startFollowed } from './followed';
import { type Nodes, startNodes } from './nodes';
import { type Market, ONE, startWorld, type Trader, type World } from './world';

/** The observer halts the exchange, and follows the chain while it is HALTED. */
let world: World;
let market: Market;
let nodes: Nodes;
let books: Followed;
let buyer: Trader;
let seller: Trader;

beforeAll(async () => {
  world = await startWorld(LIKE_BSC);
  market = await world.openMarket('halted');
  nodes = await startNodes(1, world.anvil);
  books = await startFollowed(world, market, nodes);
  [buyer, seller] = await traders(world, market);
});
beforeEach(async () => {
  await books.engine.setMode('NORMAL');
  await hasFinal(await newest());
});
afterAll(async () => {
  await books?.stop();
  await nodes?.stop();
  await world?.stop();
});

const newest = async (): Promise<number> => Number(await nodes.ask('eth_blockNumber'));
const soon = (what: string, holds: () => boolean | Promise<boolean>) =>
  until(what, holds, { patienceMs: 90_000, explain: () => books.errors.slice(-5).map(String).join('\n') });
const hasFinal = (number: number) =>
  soon(`block ${number} is final`, async () => ((await books.final())?.number ?? 0) >= number);
const orderOf = async (hash: string) => (await books.settlements.orders([hash])).get(hash);

test('an order that is cancelled on the chain while the exchange is HALTED holds nothing up, and ends afterwards', async () => {
  const terms = { side: 0, outcome: 0, pricePips: 4_000, sizeLots: 100 } as const;
  await books.place(buyer, terms);
  const [hash, sent] = [...books.orders].at(-1) ?? [];
  if (!hash || !sent) throw new Error('no order was sent');
  await books.engine.setMode('HALTED');
  // The wallet cancels an order that was never here, too.
  const other = world.sign(buyer, { tokenId: market.tokens[0], makerAmount: ONE, takerAmount: 2n * ONE });
  await world.call(buyer.address, 'cancelOrder', other);
  await world.call(buyer.address, 'cancelOrder', sent.signed);
  await hasFinal((await newest()) + 1);
  expect(await orderOf(hash)).toMatchObject({ status: 'OPEN' });
  expect(await books.redis.hlen(books.keys.withdrawn)).toBe(1);
  await books.engine.setMode('NORMAL');
  await soon('the order is cancelled', async () => (await orderOf(hash))?.status === 'CANCELLED');
  expect(await orderOf(hash)).toMatchObject({ reason: 'USER' });
  await soon('no order waits', async () => (await books.redis.hlen(books.keys.withdrawn)) === 0);
});

test('a match in a market that the books lack halts the exchange, with its name, and the books follow the chain on', async () => {
  const lost = { marketId: 'market99', sequence: 7, part: 0 };
  await world.settle([deal(world, market, matchId(lost), [buyer, seller], 10n)]);
  await hasFinal(await newest());
  expect(books.unknown).toEqual([lost]);
  const notice = await books.redis.get(books.keys.notice);
  expect(notice).toBe(`2it settled matches that this Redis does not know: ${settlementId(lost)}`);
  await hasFinal((await newest()) + 1);
});

test('a nonce that a wallet raised holds before the contract follows it, also for an observer that takes over meanwhile', async () => {
  const [wallet] = await traders(world, market);
  await world.call(wallet.address, 'raiseNonce', 5);
  await hasFinal(await newest());
  await books.restart();
  await hasFinal((await newest()) + 1);
  expect(await world.read('nonces', wallet.address)).toBe(0n);
  const terms = { side: 0, outcome: 0, pricePips: 4_000, sizeLots: 100 } as const;
  await expect(books.place(wallet, terms)).rejects.toMatchObject({ code: 'INVALID_NONCE_VALUE' });
});
