import { Refusal } from '../../src/exchange/errors';
import { cancelAllShape, emptyShape, signedOrderOf, submitShape } from '../../src/wire/requests/orders';

const ADDRESS = `0x${'ab'.repeat(20)}`;
const order = {
  salt: '1',
  maker: ADDRESS,
  signer: ADDRESS,
  taker: `0x${'0'.repeat(40)}`,
  tokenId: '2',
  makerAmount: '3',
  takerAmount: '4',
  expiration: '0',
  nonce: '0',
  feeRateBps: '0',
  side: 0,
  signatureType: 0,
  signature: '0x12',
};

function refusal(body: unknown): Refusal {
  try {
    submitShape.parse(body);
  } catch (error) {
    if (error instanceof Refusal) return error;
  }
  throw new Error('accepted');
}
const withOrder = (more: object) => ({ order: { ...order, ...more } });
const paths = (body: unknown): unknown =>
  (refusal(body).extra.errors as { path: string }[]).map(({ path }) => path);

test('an order with all its members is accepted', () => {
  const body = {
    order,
    orderType: 'FOK',
    selfTradePrevention: 'CANCEL_BOTH',
    clientOrderId: 'a-B_9.:',
    deadline: 1,
  };
  expect(submitShape.parse(body)).toEqual(body);
});

test('an order without its wrapper is told that `order` is required, and nothing else', () => {
  const { code, message, extra } = refusal(order);
  expect([code, message, extra]).toEqual([
    'INVALID_REQUEST',
    'order is required',
    { errors: [{ path: 'order', message: 'is required' }] },
  ]);
  expect(paths(withOrder({ wrong: '1' }))).toEqual(['order.wrong']);
});

test('uint256 members have one spelling, below 2^256', () => {
  const most = (2n ** 256n - 1n).toString();
  for (const name of ['salt', 'tokenId', 'makerAmount', 'takerAmount', 'expiration', 'nonce', 'feeRateBps']) {
    expect(submitShape.parse(withOrder({ [name]: most }))).toBeDefined();
    const bad = [
      (2n ** 256n).toString(),
      '9'.repeat(400),
      '01',
      '-0',
      '+1',
      ' 1',
      '1 ',
      '1\n',
      '0x1',
      '1e3',
      '1.0',
      '',
      '٣',
      1,
      null,
      [1],
      {},
      true,
    ];
    for (const value of bad) expect(paths(withOrder({ [name]: value }))).toEqual([`order.${name}`]);
    const { [name as 'salt']: _, ...rest } = order;
    expect(paths({ order: rest })).toEqual([`order.${name}`]);
  }
});

test('side and signatureType are numbers or decimal strings', () => {
  for (const [side, value] of [
    [0, 0],
    ['1', 1],
  ] as const) {
    const { order: sent } = submitShape.parse(withOrder({ side, signatureType: '3' }));
    expect(signedOrderOf(sent, (text) => text)).toMatchObject({ side: value, signatureType: 3 });
  }
  for (const side of [2, '2', '01', -1, 0.5, true, null, [0]])
    expect(paths(withOrder({ side }))).toEqual(['order.side']);
  for (const signatureType of [256, '256', '00', -1, 0.5, true, null, '0x0']) {
    expect(paths(withOrder({ signatureType }))).toEqual(['order.signatureType']);
  }
});

test('a malformed address has a separate code', () => {
  for (const maker of [
    ADDRESS.slice(2),
    `${ADDRESS}0`,
    ADDRESS.slice(0, 41),
    `0X${ADDRESS.slice(2)}`,
    '0x',
    `${ADDRESS}\n`,
  ]) {
    expect(refusal(withOrder({ maker })).code).toBe('INVALID_ADDRESS');
  }
  expect(refusal(withOrder({ maker: 5 })).code).toBe('INVALID_REQUEST');
  expect(refusal(withOrder({ maker: ADDRESS.slice(2), salt: 'x' })).code).toBe('INVALID_REQUEST');
});

test('an address whose checksum is wrong is named', () => {
  const typo = `0x${'Ab'.repeat(20)}`;
  const checksum = (address: string): string => {
    if (address === typo) throw new Refusal('INVALID_ADDRESS', 'is mistyped');
    return address;
  };
  for (const name of ['maker', 'signer', 'taker'] as const) {
    const { order: sent } = submitShape.parse(withOrder({ [name]: typo }));
    const path = `order.${name}`;
    let refused: unknown;
    try {
      signedOrderOf(sent, checksum);
    } catch (error) {
      refused = error;
    }
    expect(refused).toMatchObject({
      code: 'INVALID_ADDRESS',
      message: `${path}: is mistyped`,
      extra: { errors: [{ path, message: 'is mistyped' }] },
    });
  }
});

test('unknown members, wrong choices and wrong ids are refused', () => {
  expect(paths({ order, ordertype: 'IOC' })).toEqual(['ordertype']);
  expect(paths(withOrder({ owner: 'x' }))).toEqual(['order.owner']);
  for (const orderType of ['gtc', '__proto__', '', null])
    expect(paths({ order, orderType })).toEqual(['orderType']);
  expect(paths({ order, selfTradePrevention: 'none' })).toEqual(['selfTradePrevention']);
  for (const clientOrderId of ['', 'a b', 'a'.repeat(65), 'é', 5])
    expect(paths({ order, clientOrderId })).toEqual(['clientOrderId']);
  for (const deadline of ['5', 1.5, -1, 2 ** 53, Number.POSITIVE_INFINITY])
    expect(paths({ order, deadline })).toEqual(['deadline']);
});

test('errors are bounded and never repeat sent values', () => {
  const body = { order, ...Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`m${i}`, 'secret'])) };
  const { extra, message } = refusal(body);
  expect(extra.errors).toHaveLength(20);
  expect(JSON.stringify([extra, message])).not.toContain('secret');
});

test('optional bodies may be omitted', () => {
  expect(emptyShape.parse({})).toEqual({});
  expect(() => emptyShape.parse({ a: 1 })).toThrow(Refusal);
  expect(() => emptyShape.parse([])).toThrow(Refusal);
  expect(cancelAllShape.parse({ outcomeIndex: 1, side: 'BUY' })).toEqual({ outcomeIndex: 1, side: 'BUY' });
  expect(() => cancelAllShape.parse({ side: 0 })).toThrow(Refusal);
});
