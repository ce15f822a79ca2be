import { crc32 } from 'node:zlib';
import type { BookedOrder, BookFacts, Candle, Level } from '../../src/exchange/facts';
import type { MarketTerms } from '../../src/exchange/market';
import { lots, micro, type Pips, pips } from '../../src/exchange/units';
import { presentBalances } from '../../src/wire/answers/account';
import { bookChecksum } from '../../src/wire/answers/book';
import { historyWindow, presentHistory } from '../../src/wire/answers/history';
import { presentSubmission } from '../../src/wire/answers/order';
import { crc32Hex } from '../../src/wire/crc32';
import { decodeWalk, encodeWalk } from '../../src/wire/cursor';
import { formatMidpoint, formatWorth, touchOf } from '../../src/wire/prices';
import { presentProblem } from '../../src/wire/problem';

const level = (price: number, size: number): Level => ({
  pricePips: pips(price),
  sizeLots: lots(size),
  orders: 1,
});
const book = (bids: Level[], asks: Level[], last: number | null = null): BookFacts => ({
  sequence: 1842,
  lastPips: last as Pips | null,
  bids,
  asks,
});

test('CRC-32 equals that of zip', () => {
  for (const text of ['', '123456789', '1842|b:0.61:120,0.6:80|a:0.63:40', 'x'.repeat(1_000)]) {
    expect(crc32Hex(text)).toBe(crc32(text).toString(16).padStart(8, '0'));
  }
  expect(crc32Hex('123456789')).toBe('cbf43926');
});

test('the checksum covers at most 25 levels of each side', () => {
  const facts = book([level(6_100, 12_000), level(6_000, 8_000)], [level(6_300, 4_000)]);
  expect(bookChecksum(facts)).toBe(crc32Hex('1842|b:0.61:120,0.6:80|a:0.63:40'));
  const many = Array.from({ length: 30 }, (_, i) => level(100 + i, 100));
  expect(bookChecksum(book([], many))).toBe(bookChecksum(book([], many.slice(0, 25))));
  expect(bookChecksum(book([], many))).not.toBe(bookChecksum(book([], many.slice(0, 24))));
});

test('tokens come by market id, Yes before No, in whatever order Redis has them', () => {
  const token = (marketId: string, outcome: 0 | 1) => ({
    marketId,
    outcome,
    tokenId: '1',
    freeMicro: micro(1),
    reservedMicro: micro(0),
  });
  const tokens = [token('b', 1), token('c', 0), token('a', 0), token('b', 0)];
  const shown = presentBalances({ freeMicro: micro(0), reservedMicro: micro(0), tokens }).tokens;
  expect(shown.map(({ marketId, outcomeIndex }) => `${marketId}${outcomeIndex}`)).toEqual([
    'a0',
    'b0',
    'b1',
    'c0',
  ]);
});

test('half pips are exact, and Yes and No add up to one', () => {
  const facts = book([level(6_101, 1)], [level(6_102, 1)]);
  expect(formatMidpoint(touchOf(facts, 0))).toBe('0.61015');
  expect(formatMidpoint(touchOf(facts, 1))).toBe('0.38985');
  expect([formatWorth(facts, 0), formatWorth(facts, 1)]).toEqual(['0.61015', '0.38985']);
});

test('a wide or one-sided book is valued at its last trade', () => {
  const edge = book([level(4_000, 1)], [level(5_000, 1)], 7_000);
  expect(formatWorth(edge, 0)).toBe('0.45');
  const wide = book([level(4_000, 1)], [level(5_001, 1)], 7_000);
  expect([formatWorth(wide, 0), formatWorth(wide, 1)]).toEqual(['0.7', '0.3']);
  expect(formatWorth(book([level(4_000, 1)], [], 7_000), 0)).toBe('0.7');
  expect(formatWorth(book([level(4_000, 1)], []), 0)).toBeNull();
});

const TERMS = { id: 'abcdefgh', tokenIds: ['1', '2'] } as unknown as MarketTerms;
const candle = (startMs: number, close: number): Candle => ({
  startMs,
  open: pips(close),
  high: pips(close),
  low: pips(close),
  close: pips(close),
  volumeMicro: micro(5_000_000),
  sizeLots: lots(1_000),
  trades: 1,
});
const MINUTE = 60_000;
const NOW = 1_000_000 * MINUTE + 12_345;

test('an hour of history has 60 buckets, and empty ones repeat the price', () => {
  const window = historyWindow('1h', NOW);
  expect(window.lastMs - window.fromMs).toBe(59 * MINUTE);
  const body = presentHistory(TERMS, window, [
    candle(window.fromMs - 500 * MINUTE, 2_000),
    candle(window.fromMs + MINUTE, 3_000),
  ]);
  expect(body.history).toHaveLength(60);
  expect(body.history.slice(0, 3).map(({ p }) => p)).toEqual(['0.2', '0.3', '0.3']);
  expect(body.history[0]?.t).toBe(window.fromMs / 1_000);
  expect(body.outcomes[1]?.history[1]?.p).toBe('0.7');
  expect(body.candles[2]).toEqual({
    t: window.fromMs / 1_000 + 120,
    o: '0.3',
    h: '0.3',
    l: '0.3',
    c: '0.3',
    v: '0',
  });
  expect(body.candles[1]?.v).toBe('5');
});

test('the history has no point before the first trade', () => {
  const window = historyWindow('1h', NOW);
  expect(presentHistory(TERMS, window, []).history).toEqual([]);
  const body = presentHistory(TERMS, window, [candle(window.lastMs - MINUTE, 3_000)]);
  expect(body.history.map(({ p }) => p)).toEqual(['0.3', '0.3']);
  const all = historyWindow('all', NOW);
  const first = candle(all.lastMs - 2 * all.bucketMs, 4_000);
  expect(presentHistory(TERMS, all, [first]).history).toHaveLength(3);
});

test('sizes add up, even for a MARKET BUY that bought more than it had to', () => {
  const record: BookedOrder = {
    orderHash: '0x',
    marketId: 'abcdefgh',
    side: 0,
    outcome: 0,
    orderType: 'MARKET',
    pricePips: pips(6_000),
    // The amount that it bought, as the engine keeps it.
    sizeLots: lots(1_909),
    filledLots: lots(1_909),
    quoteMicro: micro(9_999_500),
    status: 'FILLED',
    reason: null,
    createdAtMs: 0,
    updatedAtMs: 0,
    sequence: 4,
    fillCount: 1,
    clientOrderId: null,
  };
  expect(presentSubmission(record, [])).toMatchObject({
    size: '19.09',
    filledSize: '19.09',
    remainingSize: '0',
    cancelledSize: '0',
    averagePrice: '0.523808',
  });
  const cut = { ...record, sizeLots: lots(2_000), status: 'CANCELLED', reason: 'MARKET_REMAINDER' } as const;
  expect(presentSubmission(cut, [])).toMatchObject({ size: '20', remainingSize: '0', cancelledSize: '0.91' });
  const open = { ...cut, status: 'PARTIALLY_FILLED', reason: null } as const;
  expect(presentSubmission(open, [])).toMatchObject({ remainingSize: '0.91', cancelledSize: '0' });
});

test('a cursor belongs to the order of its list, and knows the shown rows', () => {
  for (const shown of [[0], [0, 7, 8, 41], Array.from({ length: 42 }, (_, i) => i)]) {
    const walk = { epoch: 'e1', sort: 'volume', count: 42, shown: new Set(shown) };
    const cursor = encodeWalk(walk);
    expect(decodeWalk(cursor, 'e1', 'volume', 42)).toEqual(walk);
    expect(decodeWalk(cursor, 'e1', 'volume', 43)).toEqual(walk);
    expect(() => decodeWalk(cursor, 'e1', 'volume', 41)).toThrow(
      expect.objectContaining({ code: 'INVALID_CURSOR' }),
    );
  }
  const cursor = encodeWalk({ epoch: 'e1', sort: 'volume', count: 42, shown: new Set([3]) });
  const beyond = encodeWalk({ epoch: 'e1', sort: 'volume', count: 3, shown: new Set([3]) });
  for (const [text, sort] of [
    [cursor, 'liquidity'],
    [cursor.slice(0, 9), 'volume'],
    [cursor.replace('.e1.', '.e2.'), 'volume'],
    [`${cursor}!`, 'volume'],
    [beyond, 'volume'],
    ['volume.', 'volume'],
    ['x', 'volume'],
    ['', 'volume'],
  ] as const) {
    expect(() => decodeWalk(text, 'e1', sort, 42)).toThrow(
      expect.objectContaining({ code: 'INVALID_CURSOR' }),
    );
  }
});

test('a problem keeps the members that explain it and drops those that are headers', () => {
  const problem = presentProblem(
    { code: 'RATE_LIMITED', detail: 'd', extra: { retryAfterMs: 5, nearest: ['a'] } },
    'r',
  );
  expect(problem).toEqual({
    type: 'urn:problem:rate-limited',
    title: 'Too many requests',
    status: 429,
    code: 'RATE_LIMITED',
    detail: 'd',
    requestId: 'r',
    retryable: true,
    nearest: ['a'],
  });
});
