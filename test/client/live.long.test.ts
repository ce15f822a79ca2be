import { type Book, checksumOf, connectLive, type Live, type LiveBook } from 'ctf-exchange-client';
import type { OpenMarket } from '../support/trader';
import { startTypedClients, type Trader, type TypedClients } from '../support/typed-clients';
import { until } from '../support/waiting';
import { expectRest, tradeSome } from './following';
import { type FrameProxy, startFrameProxy } from './frame-proxy';
import { startPathProxy } from './path-proxy';

const UPDATES = 40;
const UPDATE = '42["orderbook:update"';
const HEARTBEAT = '42["heartbeat"';
/** A busy machine is silent for long; only one test is about silence. */
const NEVER_MS = 600_000;
const asSent = (text: string): string => text;
const isLost = (text: string): null | string => (isUpdate(text) || text.startsWith(HEARTBEAT) ? null : text);
const isUpdate = (text: string): boolean => text.startsWith(UPDATE);

let stage: TypedClients;
let proxy: FrameProxy;
let market: OpenMarket;
let traders: readonly [Trader, Trader];
let live: Live;
/** Every book that was shown, with the checksum of its update. */
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

function watch(silenceMsMax = NEVER_MS): LiveBook {
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
  for (let update = 0; update < UPDATES; update++) {
    await tradeSome(market, traders, 3, 3 * update);
    await expectRest(traders[0], market, book);
  }
  expect(shown.length).toBeGreaterThan(UPDATES);
  for (const { book: one, checksum } of shown) if (checksum) expect(checksumOf(one)).toBe(checksum);
  expect(states()).toEqual(['live']);
});

test.each(['onState', 'onBook'] as const)(
  'a handler %s that throws stops neither the book nor the other watchers, and its error reaches the runtime',
  async (name) => {
    const bug = new Error('a bug in the page');
    const uncaught: unknown[] = [];
    // The queue of the client, because an uncaught error would end the process of the test.
    const queued = jest.spyOn(globalThis, 'queueMicrotask').mockImplementation((act) => {
      try {
        act();
      } catch (error) {
        uncaught.push(error);
      }
    });
    try {
      live = connectLive({ baseUrl: proxy.url, silenceMsMax: NEVER_MS });
      let isDue = false;
      live.watch(market.conditionId, {
        [name]: () => {
          if (isDue) throw bug;
        },
      });
      const book = live.watch(market.conditionId, { onState: (state, why) => told.push({ state, why }) });
      await isLive(book);
      isDue = true;
      await tradeSome(market, traders, 5);
      let lost = 0;
      proxy.filter((text) => (isUpdate(text) && lost++ === 0 ? null : text));
      await tradeSome(market, traders, 12);
      await expectRest(traders[0], market, book);
      expect(states()).toEqual(['live', 'stale', 'live']);
      expect(uncaught.length).toBeGreaterThan(0);
      expect(new Set(uncaught)).toEqual(new Set([bug]));
    } finally {
      queued.mockRestore();
    }
  },
);

test('an exchange below a path of its host is followed, too', async () => {
  const { port, stop } = await startPathProxy(stage.port(0), '/exchange');
  try {
    for (const baseUrl of [`http://127.0.0.1:${port}/exchange`, `http://127.0.0.1:${port}/exchange/`]) {
      live = connectLive({ baseUrl });
      await isLive(live.watch(market.conditionId));
      live.close();
    }
    live = connectLive({ baseUrl: `${stage.url()}//` });
    await isLive(live.watch(market.conditionId));
  } finally {
    await stop();
  }
});

test('a lost update is noticed, and the missing updates are requested', async () => {
  const book = watch();
  await isLive(book);
  await tradeSome(market, traders, 5);
  let lost = 0;
  proxy.filter((text) => (isUpdate(text) && lost++ === 0 ? null : text));
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
    if (isUpdate(text)) lost = text;
    // A heartbeat in between would heal what is lost so far.
    return isLost(text);
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
  await expectRest(traders[0], market, book);
  proxy.filter(isLost);
  await tradeSome(market, traders, 2);
  // The answer to `subscribe` comes, what it promises does not.
  proxy.filter((text) => (isUpdate(text) ? null : text));
  await expectRest(traders[0], market, book);
  expect(states()).toEqual(['live', 'stale', 'live']);
  expect(snapshots()).toBeGreaterThan(1);
});

test('an altered update fails its checksum, and the book begins again from a snapshot', async () => {
  const book = watch();
  await isLive(book);
  await tradeSome(market, traders, 3);
  await expectRest(traders[0], market, book);
  let isAltered = false;
  proxy.filter((text) => {
    if (isAltered || !isUpdate(text)) return text;
    const altered = text.replace(/(\["0\.\d+",")(\d)/, '$18$2');
    isAltered = altered !== text;
    return altered;
  });
  await tradeSome(market, traders, 6);
  await expectRest(traders[0], market, book);
  expect(told[1]).toEqual({ state: 'stale', why: 'the checksum does not fit' });
  expect(snapshots()).toBeGreaterThan(1);
  for (const { book: one, checksum } of shown) if (checksum) expect(checksumOf(one)).toBe(checksum);
});

test('silence makes the book stale, and a dead connection is replaced', async () => {
  const book = watch(1_000);
  await isLive(book);
  // Heartbeats are rarer than this: the book may have been stale before, and may be again.
  const [before, connections] = [told.length, proxy.connections()];
  proxy.filterPresent(() => null);
  await tradeSome(market, traders, 3);
  await until('live again', () => states().indexOf('live', before) !== -1);
  await expectRest(traders[0], market, book);
  expect(states().slice(before, before + 3)).toEqual(['stale', 'reconnecting', 'live']);
  expect(told[before]?.why).toBe('neither an update nor a heartbeat came');
  expect(proxy.connections()).toBeGreaterThan(connections);
});

test('when the server stops, the book shows it and resumes its position at another server', async () => {
  const book = watch();
  await isLive(book);
  await tradeSome(market, traders, 5);
  await expectRest(traders[0], market, book);
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
