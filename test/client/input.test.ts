import {
  buildOrder,
  type Client,
  connectLive,
  createClient,
  type NewOrder,
  type SignedOrder,
  type Signer,
  signOrder,
  type Trading,
} from 'ctf-exchange-client';
import { ORDER_TYPES, type OrderType } from '../../src/exchange/status';
import { TIMEFRAMES } from '../../src/wire/answers/history';
import { sampleOf } from '../support/sample';
import type { OpenMarket } from '../support/trader';
import { startTypedClients, type TypedClients } from '../support/typed-clients';

/** Wrong input of every kind, for every member of what is signed or sent: nothing is signed, and nothing is sent. */

const NOW_MS = Date.now();
const DAY_MS = 86_400_000;
const HASH = `0x${'ab'.repeat(32)}`;

/** Values that some member takes, in other cases, units and types, and some that none takes. */
const VALUES: readonly unknown[] = [
  ...[
    undefined,
    null,
    true,
    false,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    -1,
    0,
    1,
    2,
    0.5,
    1.5,
    1e21,
    2 ** 53,
  ],
  ...[0n, 1n, -1n, 2n ** 256n, 10n, Symbol('a'), {}, [], ['BUY'], [0], () => 'BUY', new Date(Number.NaN)],
  ...[new Date(0), new Date(NOW_MS + DAY_MS), NOW_MS, NOW_MS + DAY_MS, NOW_MS / 1_000, NOW_MS * 1_000],
  ...[Math.floor(NOW_MS / 1_000) + 600, String(NOW_MS + DAY_MS), new Date(NOW_MS + DAY_MS).toISOString()],
  ...[
    '',
    ' ',
    'BUY',
    'SELL',
    'buy',
    'Buy',
    'BUY ',
    'sell',
    'long',
    'bid',
    '0',
    '1',
    '2',
    '-1',
    '0.4',
    '1.5',
    '10',
  ],
  ...[
    '00',
    '0x0',
    '0x1',
    '0x4',
    '1e1',
    '+1',
    '1,5',
    '1_000',
    '.5',
    '5.',
    '0.00001',
    '0.123456',
    'NaN',
    'Infinity',
  ],
  ...[
    'Yes',
    'yes',
    'YES',
    'No',
    'GTC',
    'gtc',
    'MARKET',
    'market',
    'IOC',
    'FOK',
    'POST_ONLY',
    'postOnly',
    'LIMIT',
  ],
  ...[
    'NONE',
    'none',
    'CANCEL_TAKER',
    'CANCEL_MAKER',
    'CANCEL_BOTH',
    'true',
    'a name',
    'a-name',
    HASH,
    `0x${'1'.repeat(40)}`,
  ],
];

/** The values that every member is tried with. */
const TRIED = sampleOf('values that are no member', VALUES, VALUES.length / 6);

const isDigits = (value: unknown): boolean => typeof value === 'string' && /^(0|[1-9]\d*)$/.test(value);
const isDecimal = (value: unknown): boolean =>
  ['0.4', '1.5'].includes(value as string) || (isDigits(value) && value !== '0');
const isUnsigned = (value: unknown): boolean =>
  isDigits(value) ||
  [0n, 1n, 10n].includes(value as bigint) ||
  (Number.isSafeInteger(value) && Number(value) >= 0);
const isTime = (value: unknown): boolean =>
  [NOW_MS, NOW_MS + DAY_MS].includes(value as number) ||
  (value instanceof Date && value.getTime() === NOW_MS + DAY_MS);

/** What each member of an order takes; undefined is no value for those that have one. */
const TAKES: Readonly<Record<string, (value: unknown) => boolean>> = {
  outcomeIndex: (value) => value === 0 || value === 1,
  side: (value) => value === 'BUY' || value === 'SELL',
  orderType: (value) => [undefined, ...ORDER_TYPES].includes(value as OrderType | undefined),
  price: (value) => value === '0.4',
  size: isDecimal,
  budget: (value) => value === undefined,
  expiresAt: (value) => value === undefined || isTime(value),
  feeRateBps: (value) => [undefined, 0, 1, 2].includes(value as number | undefined),
  nonce: (value) => value === undefined || isUnsigned(value),
  salt: (value) => value === undefined || isUnsigned(value),
  decimals: (value) => value === undefined,
};
const OPTION_TAKES: Readonly<Record<string, (value: unknown) => boolean>> = {
  clientOrderId: (value) =>
    value === undefined || (typeof value === 'string' && /^[A-Za-z0-9_.:-]{1,64}$/.test(value)),
  selfTradePrevention: (value) =>
    [undefined, 'NONE', 'CANCEL_TAKER', 'CANCEL_MAKER', 'CANCEL_BOTH'].includes(value as string | undefined),
  deadline: (value) => value === undefined || isTime(value),
  dryRun: (value) => value === undefined || typeof value === 'boolean',
};
const ORDER: NewOrder = { outcomeIndex: 0, side: 'BUY', price: '0.4', size: '10' };

type Row = readonly [name: string, value: unknown];
const wrongOf = (takes: typeof TAKES): Row[] =>
  Object.entries(takes).flatMap(([name, isTaken]) =>
    TRIED.filter((value) => !isTaken(value)).map((value) => [name, value] as const),
  );
/** Members of other clients and exchanges, and misspelt ones. */
const UNKNOWN: readonly Row[] = [
  ...([
    'maker',
    'signatureType',
    'expiration',
    'type',
    'amount',
    'outcome',
    'limitPrice',
    'postOnly',
  ] as const),
  ...([
    'timeInForce',
    'reduceOnly',
    'clientOrderID',
    'client_order_id',
    'Side',
    'orderHash',
    'dryrun',
  ] as const),
].map((name) => [name, '1']);

let stage: TypedClients;
let market: OpenMarket;
let trading: Trading;
let client: Client;
let signer: Signer;
let signed: SignedOrder;
let signatures: string[] = [];
let sent: string[] = [];

beforeAll(async () => {
  stage = await startTypedClients();
  market = await stage.market();
  const trader = await stage.trader({
    fetch: (url, init) => {
      if (init?.method !== 'GET') sent.push(url);
      return fetch(url, init);
    },
    decimals: 18,
  });
  ({ client } = trader);
  const { wallet } = trader;
  trading = await client.trading(market.id);
  ({ signed } = await client.placeOrder(wallet, market.id, ORDER));
  signer = {
    address: wallet.address,
    signMessage: (text) => {
      signatures.push('message');
      return wallet.signMessage(text);
    },
    signTypedData: (...typed) => {
      signatures.push('order');
      return wallet.signTypedData(...typed);
    },
  };
});
afterAll(() => stage.stop());
beforeEach(() => {
  [signatures, sent] = [[], []];
});

/** Runs a call with each row; every one must be refused by its name, without a signature and a request. */
async function refuses(rows: readonly Row[], call: (row: Row) => unknown): Promise<void> {
  expect(rows.length).toBeGreaterThan(0);
  const passed: string[] = [];
  for (const row of rows) {
    const [name, value] = row;
    const error = await Promise.resolve()
      .then(() => call(row))
      .then(
        () => 'nothing',
        (thrown: unknown) => thrown,
      );
    const isRefused = error instanceof RangeError || error instanceof TypeError;
    if (!isRefused || !error.message.includes(name)) passed.push(`${name} ${String(value)}: ${error}`);
  }
  expect({ passed, signatures, sent }).toEqual({ passed: [], signatures: [], sent: [] });
}

const withMember = ([name, value]: Row): NewOrder => ({ ...ORDER, [name]: value });

test('the values of the table that are right are taken', () => {
  const { maker } = signed;
  for (const [name, isTaken] of Object.entries(TAKES))
    for (const value of VALUES.filter((one) => isTaken(one)))
      expect(() =>
        buildOrder(trading, {
          ...ORDER,
          maker,
          expiresAt: NOW_MS + DAY_MS,
          ...(name === 'size' ? { orderType: 'MARKET' } : {}),
          [name]: value,
        } as never),
      ).not.toThrow(/must be/);
});

test('placeOrder refuses every wrong member', () =>
  refuses([...wrongOf(TAKES), ...UNKNOWN], (row) => client.placeOrder(signer, trading, withMember(row))));

test('replace refuses every wrong member', () =>
  refuses([...wrongOf(TAKES), ...UNKNOWN], (row) => client.replace(signer, trading, HASH, withMember(row))));

test('batch signs none of its orders when the last one is wrong', async () => {
  await refuses([...wrongOf(TAKES), ...UNKNOWN, ['dryRun', true]], (row) =>
    client.batch(signer, trading, [ORDER, withMember(row)]),
  );
  const lists = [undefined, null, {}, [], 'orders', Array.from({ length: 21 }, () => ORDER)];
  await refuses(
    lists.map((list) => ['orders', list] as const),
    ([, list]) => client.batch(signer, trading, list as never),
  );
});

test('buildOrder refuses every wrong member, and an order without an end that never rests', async () => {
  const { maker } = signed;
  const rows: Row[] = [...wrongOf(TAKES), ...UNKNOWN.filter(([name]) => !/maker|signatureType/.test(name))];
  await refuses(rows, (row) => buildOrder(trading, { ...withMember(row), maker }));
  await refuses(
    TRIED.filter((value) => value !== `0x${'1'.repeat(40)}`).map((value) => ['maker', value] as const),
    ([, value]) => buildOrder(trading, { ...ORDER, maker: value as string }),
  );
  for (const orderType of ['MARKET', 'IOC', 'FOK'] as const)
    await refuses([['expiresAt', undefined]], () => buildOrder(trading, { ...ORDER, orderType, maker }));
});

test('the amounts that are signed bound the price: a MARKET order needs one, and a budget must fit it', async () => {
  const orders: (readonly [string, object])[] = [
    ['price', { side: 'BUY', orderType: 'MARKET', budget: '100', price: undefined }],
    ['price', { side: 'BUY', orderType: 'MARKET', budget: '100', price: '1' }],
    ['price', { side: 'BUY', orderType: 'MARKET', budget: '8', size: '10', price: '0.5' }],
    ['price', { side: 'SELL', orderType: 'MARKET', size: '10', price: undefined }],
    ['budget', { side: 'BUY', orderType: 'MARKET', size: undefined, price: '0.5' }],
    ['budget', { side: 'SELL', orderType: 'MARKET', size: '10', budget: '5', price: '0.5' }],
    ['size', { side: 'BUY', size: '10.001' }],
    ['collateral', { side: 'BUY', size: '0.01', price: '0.0001', decimals: 4 }],
  ];
  await refuses(orders, ([name, order]) =>
    client.placeOrder(signer, trading, {
      ...ORDER,
      size: undefined,
      [name]: undefined,
      ...(order as NewOrder),
    }),
  );
});

test('a timeframe that is none is refused, and each of the others is read', async () => {
  const { maker } = signed;
  const calls = (timeframe: never) => [
    () => client.portfolio(timeframe),
    () => client.portfolioOf(maker, timeframe),
    () => client.priceHistory(market.id, timeframe),
  ];
  const wrong = [...VALUES.filter((value) => value !== undefined), { timeframe: '1h' }, '1H', '2d'];
  for (const at of [0, 1, 2])
    await refuses(
      wrong.map((value) => ['timeframe', value] as const),
      ([, value]) => calls(value as never)[at]?.(),
    );
  for (const timeframe of TIMEFRAMES) await client.portfolio(timeframe);
});

test('placeOrder, replace and batch refuse wrong options', async () => {
  const rows = [...wrongOf(OPTION_TAKES), ...UNKNOWN.filter(([name]) => name !== 'dryRun')];
  await refuses(rows, (row) => client.placeOrder(signer, trading, ORDER, { [row[0]]: row[1] }));
  await refuses(rows, (row) => client.replace(signer, trading, HASH, ORDER, { [row[0]]: row[1] }));
  await refuses(rows, (row) => client.batch(signer, trading, [{ ...ORDER, [row[0]]: row[1] } as NewOrder]));
  for (const options of [null, 'options', 1, []])
    await refuses([['options', options]], () => client.placeOrder(signer, trading, ORDER, options as never));
});

test('calls refuse a market and a signer that are none', async () => {
  const [{ domain, types }, { limits }] = [trading.eip712, trading];
  const markets = [
    ...[
      undefined,
      null,
      '',
      0,
      [],
      {},
      trading.market,
      { ...trading, eip712: undefined },
      { ...trading, limits },
    ],
    ...[
      { ...trading, eip712: { domain } },
      { ...trading, eip712: { types } },
      { ...trading, market: { id: '' } },
    ],
    ...[{ ...trading, market: { ...trading.market, outcomes: [{}, {}] } }],
  ].filter((one) => JSON.stringify(one) !== JSON.stringify(trading));
  const call = (one: unknown) => [
    () => client.placeOrder(signer, one as Trading, ORDER),
    () => client.replace(signer, one as Trading, HASH, ORDER),
    () => client.batch(signer, one as Trading, [ORDER]),
    () => buildOrder(one as Trading, { ...ORDER, maker: signed.maker }),
  ];
  for (const one of markets) for (const act of call(one)) await refuses([['', one]], act);
  const { address, signMessage, signTypedData } = signer;
  const signers = [undefined, null, {}, address, { address }, { signMessage, signTypedData }];
  const addressless = [...signers, { ...signer, address: 'alice' }, { ...signer, isContract: 'no' }];
  for (const one of addressless as Signer[])
    await refuses([['', one]], () => client.placeOrder(one, trading, ORDER));
  for (const one of signers as Signer[]) await refuses([['', one]], () => client.signIn(one));
});

test('submitOrder, submitReplacement and signOrder refuse every wrong member of a signed order', async () => {
  const names = Object.keys(signed) as (keyof SignedOrder)[];
  const isRight = (name: keyof SignedOrder, value: unknown): boolean => {
    if (name === 'side' || name === 'signatureType') return value === 0 || (name === 'side' && value === 1);
    if (name === 'maker' || name === 'signer' || name === 'taker') return value === `0x${'1'.repeat(40)}`;
    if (name === 'signature') return value === HASH || value === `0x${'1'.repeat(40)}`;
    return isDigits(value);
  };
  const rows: Row[] = names.flatMap((name) =>
    TRIED.filter((value) => !isRight(name, value)).map((value) => [name, value] as const),
  );
  await refuses(rows, ([name, value]) =>
    client.submitOrder(market.id, { order: { ...signed, [name]: value } }),
  );
  await refuses(rows, ([name, value]) =>
    client.submitReplacement(market.id, HASH, { order: { ...signed, [name]: value } }),
  );
  const { signature: _, ...unsigned } = signed;
  await refuses(
    rows.filter(([name]) => name !== 'signature'),
    ([name, value]) => signOrder(signer, trading.eip712, { ...unsigned, [name]: value }),
  );
  const orderType = TAKES.orderType as (value: unknown) => boolean;
  await refuses(wrongOf({ ...OPTION_TAKES, orderType, dryRun: () => false }), ([name, value]) =>
    client.submitOrder(market.id, { order: signed, [name]: value }),
  );
  await refuses(
    UNKNOWN.map(([name]) => [name, '1']),
    ([name, value]) => client.submitOrder(market.id, { order: signed, [name]: value }),
  );
  const isFlag = (value: unknown): boolean => value === undefined || typeof value === 'boolean';
  await refuses(wrongOf({ dryRun: isFlag }), ([name, value]) =>
    client.submitOrder(market.id, { order: signed }, { [name]: value }),
  );
});

test('actions refuse ids, sizes and members that are none', async () => {
  const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
  const notText = TRIED.filter((value) => !isText(value));
  const rows = (name: string, values: readonly unknown[]): Row[] => values.map((value) => [name, value]);
  for (const value of notText) {
    const id = value as string;
    await refuses(rows('', [value]), () => client.split(id, '1'));
    await refuses(rows('', [value]), () => client.deleteApiKey(id));
    await refuses(rows('', [value]), () => client.postComment(id, 'words'));
    await refuses(rows('', [value]), () => client.postComment(market.id, id));
    await refuses(rows('', [value]), () => client.likeComment(id));
    await refuses(rows('', [value]), () => client.market(id));
    await refuses(rows('', [value]), () => client.submitOrder(id, { order: signed }));
  }
  const notHash = TRIED.filter((value) => value !== HASH);
  await refuses(rows('orderHash', notHash), ([, value]) => client.cancel(value as string));
  await refuses(rows('orderHash', notHash), ([, value]) => client.cancelMany([HASH, value as string]));
  await refuses(rows('oldHash', notHash), ([, value]) =>
    client.replace(signer, trading, value as string, ORDER),
  );
  const notSize = TRIED.filter((value) => !isDecimal(value) && !/^0\.\d*[1-9]$/.test(String(value)));
  await refuses(rows('size', notSize), ([, value]) => client.split(market.id, value as string));
  await refuses(rows('size', notSize), ([, value]) => client.merge(market.id, value as string));
  await refuses(UNKNOWN, ([name, value]) => client.updateProfile({ [name]: value }));
  await refuses(UNKNOWN, ([name, value]) =>
    client.createApiKey({ name: 'a', scopes: ['read'], [name]: value } as never),
  );
  for (const list of [client.markets, client.orders, client.positions, client.myTrades, client.activity])
    await refuses(UNKNOWN, ([name]) => list({ [name]: undefined }));
});

test('createClient, connectLive and their watches refuse what they do not know', async () => {
  const baseUrl = stage.url();
  const misspelt: Row[] = ['url', 'base_url', 'token', 'cancelOndisconnect', 'signal', 'onBok'].map(
    (name) => [name, true],
  );
  const urls: Row[] = [
    undefined,
    null,
    'localhost:3000',
    'ws://a',
    'http://',
    'http://a?b',
    'http://a#b',
    ' ',
    1,
  ].map((value) => ['baseUrl', value]);
  await refuses(misspelt, ([name, value]) => createClient({ baseUrl, [name]: value } as never));
  await refuses(misspelt, ([name, value]) => connectLive({ baseUrl, [name]: value } as never));
  await refuses(urls, ([, value]) => createClient({ baseUrl: value as string }));
  await refuses(urls, ([, value]) => connectLive({ baseUrl: value as string }));
  const options: Row[] = [
    ...([
      ['cancelOnDisconnect', 'yes'],
      ['cancelOnDisconnect', 1],
      ['accountEvents', null],
    ] as const),
    ...([
      ['silenceMsMax', '12'],
      ['silenceMsMax', Number.NaN],
      ['getToken', 'a token'],
    ] as const),
  ];
  await refuses(options, ([name, value]) => connectLive({ baseUrl, [name]: value } as never));
  const more: Row[] = [
    ['timeoutMs', '5'],
    ['timeoutMs', 0],
    ['decimals', 1.5],
    ['accessToken', {}],
    ['fetch', 'fetch'],
  ];
  await refuses(more, ([name, value]) =>
    createClient({ baseUrl, [name === 'accessToken' ? 'session' : name]: value } as never),
  );
  const live = connectLive({ baseUrl });
  try {
    await refuses(misspelt, ([name]) => live.watch(HASH, { [name]: () => undefined }));
    await refuses(
      [
        ['id', market.id],
        ['id', undefined],
      ],
      ([, value]) => live.watch(value as string),
    );
    await refuses([['onBook', 'a handler']], ([name, value]) => live.watch(HASH, { [name]: value }));
    await refuses(misspelt, ([name]) => live.watchMarkets({ [name]: () => undefined }));
    await refuses([['handler', undefined]], ([, value]) => live.onOrder(value as never));
  } finally {
    live.close();
  }
});
