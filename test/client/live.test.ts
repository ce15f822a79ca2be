import { type Book, checksumOf, connectLive, type Live, type LiveBook } from '../../src/client';
import { until } from '../support/processes';
import { type ClientStage, type OpenMarket, startClientStage, type Trader } from './stage';

let stage: ClientStage;
let market: OpenMarket;
let alice: Trader;
let bob: Trader;
let live: Live;
/** Every book shown, with the checksum of the update that led to it. */
let shown: { book: Book; checksum: string | null }[];

beforeAll(async () => {
  stage = await startClientStage();
  [alice, bob] = await Promise.all([stage.trader(), stage.trader()]);
});
afterAll(() => stage.stop());
beforeEach(async () => {
  shown = [];
  market = await stage.market();
  live = connectLive({ baseUrl: stage.url, getToken: alice.client.accessToken });
});
afterEach(() => live.close());

function watch(states: string[] = []): LiveBook {
  return live.watch(market.conditionId, {
    onBook: (one, update) => shown.push({ book: one.book as Book, checksum: update?.checksum ?? null }),
    onState: (state) => states.push(state),
  });
}

/** Orders that rest, trade and go: `count` of them, of both wallets and outcomes. */
async function trade(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const who = i % 2 === 0 ? alice : bob;
    const price = `0.${35 + ((i * 7) % 30)}`;
    const order = { outcomeIndex: i % 3 === 0 ? 1 : 0, side: 'BUY', price, size: `${1 + (i % 9)}` } as const;
    const placed = await who.client.placeOrder(who.wallet, market.id, order);
    if (i % 4 === 0) await who.client.cancel(placed.orderHash).catch(() => undefined);
  }
}

async function expectRest(book: LiveBook): Promise<void> {
  const rest = await alice.client.orderbook(market.id);
  await until('the book is where REST is', () => book.sequence === rest.sequence && book.state === 'live');
  const levels = (side: typeof rest.bids) => side.map(({ price, size }) => ({ price, size }));
  expect(book.book).toEqual({
    sequence: rest.sequence,
    bids: levels(rest.bids),
    asks: levels(rest.asks),
  });
  const no = rest.outcomes[1];
  expect(book.view(1)).toEqual({ bids: levels(no?.bids ?? []), asks: levels(no?.asks ?? []) });
  expect(checksumOf(book.book as Book)).toBe(rest.checksum);
}

test('a book stays equal to REST and to every checksum through many updates', async () => {
  const states: string[] = [];
  const book = watch(states);
  expect(book.state).toBe('reconnecting');
  await until('live', () => book.state === 'live');
  await trade(120);
  await expectRest(book);
  expect(shown.length).toBeGreaterThan(40);
  for (const { book: one, checksum } of shown) if (checksum) expect(checksumOf(one)).toBe(checksum);
  expect(states).toEqual(['live']);
});
