import path from 'node:path';
import { MARKET_STATUSES } from '../../src/exchange/market';
import {
  MODES,
  ORDER_STATUSES,
  ORDER_TYPES,
  REASONS,
  SELF_TRADE_PREVENTIONS,
  SETTLEMENT_STATUSES,
} from '../../src/exchange/status';
import { lots, micro, pips } from '../../src/exchange/units';
import { LANE_STATES } from '../../src/extensions/chain/store/intents';
import { luaSources } from '../../src/lua-bundle/bundle';
import { decodeEvent, EVENT_KINDS, NO_MARKET } from '../../src/store/outbox/outbox';
import * as layouts from '../../src/store/records/layout';
import { VOID } from '../../src/store/records/market';
import { MOVE_REASONS } from '../../src/store/records/moves';
import { decodeChains, decodeFills, decodeOrder, encodeBody, hashHex } from '../../src/store/records/order';
import { packRequest } from '../../src/store/verbs/place';

/**
 * The formats that Lua packs and TypeScript reads, and the codes that both know by a number, are written once on each side
 * and must be equal.
 */
const sources = (['chain', 'paper'] as const).map((funds) =>
  luaSources(path.join(__dirname, '../..'), funds),
);
const lua = sources.flatMap((files) => [...files.values()]);
const libs = new Map(sources.flatMap((files) => [...files]));
const textOf = (lib: string): string => libs.get(`lib/${lib}.lua`) ?? '';

const {
  ORDER_BODY,
  ORDER_CHANGES,
  REQUEST,
  MATCH_HEAD,
  MATCH_FILL,
  OUTBOX_HEAD,
  readUInt: _read,
  writeUInt: _write,
  ...others
} = layouts;
const all = Object.entries({ ORDER_BODY, ORDER_CHANGES, MATCH_HEAD, MATCH_FILL, OUTBOX_HEAD, ...others });

test.each(all)('Lua packs the layout %s', (_name, { format }) => {
  expect(lua.filter((text) => text.includes(`'${format}'`))).not.toEqual([]);
});

test.each(all)(
  'the layout %s reads single fields and whole records alike, and no record that is cut',
  (_name, layout) => {
    const packed = Buffer.from(Array.from({ length: layout.bytes }, (_, i) => (i * 37 + 11) % 256));
    const one = Object.entries<(record: Buffer) => unknown>(layout.get).map(([name, get]) => [
      name,
      get(packed),
    ]);
    expect(Object.fromEntries(one)).toEqual(layout.read(packed));
    const cut = packed.subarray(0, layout.bytes - 1);
    if (/[BI]\d*$/.test(layout.format)) expect(() => layout.read(cut)).toThrow('ends before');
  },
);

test('a request is packed as Lua unpacks it, with the price in Yes and the trace at its end', () => {
  expect(textOf('request')).toContain(`'${REQUEST.format}c0'`);
  expect(textOf('request')).toContain(`YES_AT = ${REQUEST.bytes + 1}\n`);
});

/** The codes of `book.DRAFT, book.OPEN = 0, 1`, by the names without their library. */
function constantsOf(lib: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const [, names = '', numbers = ''] of textOf(lib).matchAll(
    /^((?:\w+\.[A-Z_]+(?:, )?)+) = ((?:\d+(?:, )?)+)$/gm,
  )) {
    const values = numbers.split(', ').map(Number);
    for (const [i, name] of names.split(', ').entries()) {
      found.set(name.replace(`${lib}.`, ''), values[i] ?? Number.NaN);
    }
  }
  return found;
}

/** Each code of Lua by its name there, and the list whose index it is. */
const CODES: readonly (readonly [
  lib: string,
  list: readonly (string | null)[],
  names: Record<string, string | null>,
])[] = [
  ['order', ORDER_STATUSES, named(ORDER_STATUSES, { FILLED: 'FILLED_STATUS' })],
  ['order', ORDER_TYPES, named(ORDER_TYPES, { MARKET: 'MARKET_TYPE' })],
  [
    'order',
    REASONS,
    {
      REASON_NONE: null,
      REASON_IOC: 'IOC_REMAINDER',
      REASON_MARKET: 'MARKET_REMAINDER',
      ...named(['SELF_TRADE', 'MATCH_LIMIT', 'MARKET_CLOSED', 'EXPIRED', 'NONCE'], {}, 'REASON_'),
      ...named(['FUNDS', 'REPLACED', 'SETTLEMENT_FAILED'], {}, 'REASON_'),
    },
  ],
  ['book', MARKET_STATUSES, named(MARKET_STATUSES.filter((status) => status !== 'CLOSED'))],
  ['book', MODES, named(MODES)],
  ['outbox', EVENT_KINDS, named(EVENT_KINDS.filter((kind) => kind !== null))],
  ['outbox', MOVE_REASONS, named(MOVE_REASONS.filter((reason) => reason !== null))],
  ['settlements', SETTLEMENT_STATUSES, named(SETTLEMENT_STATUSES)],
  ['intents', LANE_STATES, named(LANE_STATES)],
];

function named(
  list: readonly string[],
  other: Readonly<Record<string, string>> = {},
  before = '',
): Record<string, string> {
  return Object.fromEntries(list.map((name) => [`${before}${other[name] ?? name}`, name]));
}

test.each(CODES)('the codes of lib/%s.lua are the places in the list %j', (lib, list, names) => {
  const constants = constantsOf(lib);
  const told = Object.entries(names).map(([name, value]) => [name, constants.get(name), value]);
  expect(told).toEqual(Object.entries(names).map(([name, value]) => [name, list.indexOf(value), value]));
});

test('the codes that Lua writes as numbers are the places in their lists', () => {
  expect(constantsOf('resolution').get('VOID')).toBe(VOID);
  expect(textOf('outbox')).toContain(`outbox.NO_MARKET = '${NO_MARKET}'`);
  const [, taker, maker] = /CANCEL_TAKER, CANCEL_MAKER = (\d), (\d)/.exec(textOf('plan')) ?? [];
  expect([SELF_TRADE_PREVENTIONS[Number(taker)], SELF_TRADE_PREVENTIONS[Number(maker)]]).toEqual([
    'CANCEL_TAKER',
    'CANCEL_MAKER',
  ]);
  // The kind of an order has three bits for its type.
  expect(ORDER_TYPES.length).toBeLessThanOrEqual(8);
});

/** Values that are all different, each as large as its field allows. */
const marketId = 'market42';
const maker = Buffer.from('a1'.repeat(20), 'hex');
const orderHash = `0x${'0f'.repeat(32)}`;
const signed = Buffer.from('signature and salt');
const submitted = {
  order: {
    side: 1,
    outcome: 0,
    pricePips: pips(4_321),
    sizeLots: lots(2 ** 47 + 3),
    budgetMicro: micro(2 ** 52 + 5),
  },
  orderType: 'POST_ONLY',
  expirationSec: 2 ** 39 + 7,
  marketId,
  clientOrderId: 'näme',
  signed,
} as const;

test('an order that hand-written code reads and writes agrees with its layouts', () => {
  const body = encodeBody(submitted, maker);
  const head = Buffer.alloc(ORDER_BODY.at.kind);
  const { createdAtMs, sequence } = { createdAtMs: 2 ** 43 + 1, sequence: 2 ** 44 + 2 };
  layouts.writeUInt(head, sequence, layouts.writeUInt(head, createdAtMs, 0, 6), 6);
  const read = ORDER_BODY.read(Buffer.concat([head, body]));
  const { pricePips, sizeLots } = submitted.order;
  expect(read).toEqual({
    createdAtMs,
    sequence,
    kind: 3 + (1 << 3),
    pricePips,
    sizeLots,
    expirationSec: submitted.expirationSec,
    maker,
    marketId: Buffer.from(marketId),
  });
  const changes = {
    reason: 6,
    filledLots: 2 ** 46 + 1,
    quoteMicro: 2 ** 52 + 9,
    updatedAtMs: 2 ** 43 + 9,
    fillMs: 2 ** 43 + 8,
    fillSequence: 2 ** 44 + 7,
    fillCount: 2 ** 31 + 4,
    status: 3,
  };
  const { reason, status, ...rest } = changes;
  const packed = Buffer.concat([head, body, ORDER_CHANGES.pack(changes)]);
  expect(decodeOrder(orderHash, packed)).toMatchObject({
    ...rest,
    orderHash,
    createdAtMs,
    sequence,
    pricePips,
    sizeLots,
    marketId,
    signed,
    side: 1,
    outcome: 0,
    maker: hashHex(maker),
    orderType: 'POST_ONLY',
    clientOrderId: 'näme',
    reason: REASONS[reason],
    status: ORDER_STATUSES[status],
    expirationSec: submitted.expirationSec,
  });
});

test('a match that hand-written code reads agrees with its layouts', () => {
  const [takerHash, makerHash] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)];
  const head = MATCH_HEAD.pack({ takerHash, takerSide: 1, takerOutcome: 0, fills: 1 });
  const fill = {
    makerHash,
    pricePips: 9_999,
    sizeLots: 2 ** 46 + 2,
    matchType: 2,
    takerFeeMicro: 2 ** 52 + 1,
    makerFeeMicro: 2 ** 52 + 2,
    chainMs: 2 ** 43 + 3,
    chainSequence: 2 ** 44 + 4,
  };
  const packed = Buffer.concat([head, MATCH_FILL.pack(fill)]);
  const { matchType: _type, chainMs, chainSequence, ...shown } = fill;
  expect(decodeFills(5, 6, packed)).toEqual([
    {
      ...shown,
      tradeMs: 5,
      matchedMs: 5,
      sequence: 6,
      index: 0,
      takerSide: 1,
      takerOutcome: 0,
      matchType: 'MERGE',
      takerHash: hashHex(takerHash),
      makerHash: hashHex(makerHash),
    },
  ]);
  expect(decodeChains(packed)).toEqual([{ tradeMs: chainMs, sequence: chainSequence }]);
});

test('a request that hand-written code packs agrees with its layout', () => {
  const request = {
    ...submitted,
    orderHash,
    maker: hashHex(maker),
    selfTradePrevention: 'CANCEL_BOTH',
    deadlineMs: 2 ** 43 + 3,
    nonce: 2 ** 32 - 2,
    feeRateBps: 199,
    lotLots: lots(2 ** 45 + 6),
    dryRun: true,
    isCovered: true,
    receivedAtMs: 0,
  } as unknown as Parameters<typeof packRequest>[0];
  const packed = packRequest(request, maker, micro(2 ** 52 + 11), 499);
  const { lastMomentMs, ...read } = REQUEST.read(packed);
  expect(lastMomentMs).toBeGreaterThan(0);
  const { pricePips, sizeLots, budgetMicro } = submitted.order;
  expect(read).toEqual({
    side: 1,
    outcome: 0,
    orderType: 3,
    selfTradePrevention: 3,
    pricePips,
    sizeLots,
    budgetMicro,
    maker,
    expirationSec: submitted.expirationSec,
    nonce: 2 ** 32 - 2,
    feeRateBps: 199,
    makersMax: 499,
    grantMicro: 2 ** 52 + 11,
    dryRun: 1,
    isCovered: 1,
    lotLots: 2 ** 45 + 6,
    marketId: Buffer.from(marketId),
    yesBytes: 4,
  });
  expect(packed.toString('latin1', REQUEST.bytes)).toBe('4321');
});

test('an outbox entry that hand-written code reads agrees with its layout', () => {
  const head = { kind: 1, sequence: 2 ** 44 + 1, timestampMs: 2 ** 43 + 2, tradeMs: 2 ** 43 + 3, levels: 0 };
  const packed = OUTBOX_HEAD.pack({ ...head, marketId: Buffer.from(marketId) });
  const { kind, levels, ...shown } = head;
  expect(decodeEvent(Buffer.concat([packed, Buffer.alloc(4)]))).toEqual({
    ...shown,
    kind: EVENT_KINDS[kind],
    marketId,
    orderHashes: [],
    wallets: [],
    moves: [],
    levels: Array.from({ length: levels }),
  });
});
