import { type Book, checksumOf, connectLive, type Live, type LiveBook } from 'ctf-exchange-client';
import type { OpenMarket } from '../support/trader';
import { startTypedClients, type Trader, type TypedClients } from '../support/typed-clients';
import { until } from '../support/waiting';
import { expectRest, tradeSome } from './following';
import { type FrameProxy, startFrameProxy } from './frame-proxy';

const UPDATES_MIN = 40;
const ROUNDS_MAX = 5;
const UPDATE = '42["orderbook:update"';
const asSent = (text: string): string => text;

let stage: TypedClients;
let proxy: FrameProxy;
let market: OpenMarket;
let traders: readonly [Trader, Trader];
let live: Live;
/** Every book shown, with the checksum of the update that led to it. */
let shown: { book: Book; checksum: string | null }[];
/** States and their reasons. */
let told: { state: string; why: string }[];

beforeAll(async () => {
  stage = await startTypedClients({}, 2);
  traders = [await stage.trader({ at: 1 }), await stage.trader({ at: 1 })];
});
afterAll(() => stage.stop());
beforeEach(async () => {
  [shown, told] = [[], []];
  market = await stage.market();
  proxy = await startFrameProxy(stage.port(0));
});
afterEach(async () => {
  live.close();
  await proxy.stop();
});

function watch(silenceMsMax?: number): LiveBook {
  live = connectLive({ baseUrl: proxy.url, silenceMsMax });
  return live.watch(market.conditionId, {
    onBook: (one, update) => shown.push({ book: one.book as Book, checksum: update?.checksum ?? null }),
    onState: (state, why) => told.push({ state, why }),
  });
}
const isLive = (book: LiveBook): Promise<void> => until('live', () => book.state === 'live');
const states = (): string[] => told.map(({ state }) => state);
const snapshots = (): number => shown.filter(({ checksum }) => checksum === null).length;

test('a book stays equal to REST and to every checksum through many updates', async () => {
  const book = watch();
  expect([book.state, book.book, book.view(1)]).toEqual(['reconnecting', null, null]);
  await isLive(book);
  // Changes within a few milliseconds are one update: the faster the exchange, the fewer updates.
  for (let round = 0; round < ROUNDS_MAX && shown.length <= UPDATES_MIN; round++) {
    await tradeSome(market, traders, 120);
  }
  await expectRest(traders[0], market, book);
  expect(shown.length).toBeGreaterThan(UPDATES_MIN);
  for (const { book: one, checksum } of shown) if (checksum) expect(checksumOf(one)).toBe(checksum);
  expect(states()).toEqual(['live']);
});

test('a lost update is noticed, and the missing updates are requested', async () => {
  const book = watch();
  await isLive(book);
  await tradeSome(market, traders, 5);
  let lost = 0;
  proxy.filter((text) => (text.startsWith(UPDATE) && lost++ === 0 ? null : text));
  await tradeSome(market, traders, 12);
  await expectRest(traders[0], market, book);
  expect(states()).toEqual(['live', 'stale', 'live']);
  expect(told[1]?.why).toMatch(/are missing/);
  // From the log: the book was never thrown away.
  expect(snapshots()).toBe(1);
});

test('the loss of the last update is noticed by the heartbeat', async () => {
  const book = watch();
  await isLive(book);
  let lost = '';
  proxy.filter((text) => {
    if (!text.startsWith(UPDATE)) return text;
    lost = text;
    return null;
  });
  await tradeSome(market, traders, 2);
  const { sequence } = await traders[0].client.orderbook(market.id);
  await until('all are lost', () => lost.includes(`"sequence":${sequence},`));
  proxy.filter(asSent);
  await expectRest(traders[0], market, book);
  expect(told[1]?.why).toBe(`updates up to ${sequence} are missing`);
});

test('a promise that is not kept leads to a snapshot', async () => {
  const book = watch();
  await isLive(book);
  await tradeSome(market, traders, 3);
  // The answer to `subscribe` comes, what it promises does not.
  proxy.filter((text) => (text.startsWith(UPDATE) ? null : text));
  await tradeSome(market, traders, 2);
  await expectRest(traders[0], market, book);
  expect(states()).toEqual(['live', 'stale', 'live']);
  expect(snapshots()).toBe(2);
});

test('an altered update fails its checksum, and the book begins again from a snapshot', async () => {
  const book = watch();
  await isLive(book);
  await tradeSome(market, traders, 3);
  let altered = 0;
  proxy.filter((text) =>
    text.startsWith(UPDATE) && altered++ === 0 ? text.replace(/(\["0\.\d+",")(\d)/, '$18$2') : text,
  );
  await tradeSome(market, traders, 6);
  await expectRest(traders[0], market, book);
  expect(told[1]).toEqual({ state: 'stale', why: 'the checksum does not fit' });
  expect(snapshots()).toBe(2);
  for (const { book: one, checksum } of shown) if (checksum) expect(checksumOf(one)).toBe(checksum);
});

test('silence makes the book stale, and a dead connection is replaced', async () => {
  const book = watch(1_000);
  await isLive(book);
  proxy.filterPresent(() => null);
  await tradeSome(market, traders, 3);
  await until('stale', () => states().includes('stale'));
  expect(told[1]?.why).toBe('neither an update nor a heartbeat came');
  await until('another connection', () => proxy.connections() === 2);
  await expectRest(traders[0], market, book);
  expect(states()).toEqual(['live', 'stale', 'reconnecting', 'live']);
});

test('when the server stops, the book shows it and resumes its position at another server', async () => {
  const book = watch();
  await isLive(book);
  await tradeSome(market, traders, 5);
  await until('the book came', () => book.sequence !== 0);
  await stage.exchange.replicas[0].web.stop(1_000);
  await until('noticed', () => book.state === 'reconnecting');
  const kept = book.sequence;
  await tradeSome(market, traders, 10);
  expect(book.sequence).toBe(kept);
  proxy.retarget(stage.port(1));
  await expectRest(traders[0], market, book);
  expect(states()).toEqual(['live', 'reconnecting', 'live']);
  expect(snapshots()).toBe(1);
});
