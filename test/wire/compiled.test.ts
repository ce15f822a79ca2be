import { inspect, isDeepStrictEqual } from 'node:util';
import Joi from 'joi';
import { ORDER_TYPES, SELF_TRADE_PREVENTIONS } from '../../src/exchange/status';
import { compileSchema } from '../../src/wire/compiled';
import { OPERATIONS } from '../../src/wire/documents/openapi/operations';
import {
  batchShape,
  cancelListShape,
  cancelShape,
  emptyShape,
  submitShape,
} from '../../src/wire/requests/orders';
import { renewShape, subscribeShape, unsubscribeShape } from '../../src/wire/requests/subscriptions';
import type { Shape } from '../../src/wire/shape';
import { createRandom, type Random } from '../support/random';

/** Joi decides: the compiled check may only accept bodies that Joi accepts, and returns as they are. */
const ROUNDS = 1_000;
const SEED = 20;

const HASH = `0x${'aB'.repeat(32)}`;
const UINT256_MAX = 2n ** 256n - 1n;
const EDGES: readonly unknown[] = [
  ...['', '0', '00', '01', '-0', '-1', '+1', '1.0', '1e3', ' 1', '1 ', '1\n', '0x1', '١', '1_000', 'NaN'],
  ...[UINT256_MAX, UINT256_MAX + 1n, 10n ** 76n, 10n ** 77n, 10n ** 78n].map(String),
  '9'.repeat(77),
  '9'.repeat(400),
  `0x${'ab'.repeat(20)}`,
  `0x${'AB'.repeat(20)}`,
  `0X${'ab'.repeat(20)}`,
  `0x${'ab'.repeat(20)}\n`,
  `0x${'ab'.repeat(19)}`,
  `0x${'ag'.repeat(20)}`,
  `0x${'ab'.repeat(32)}`,
  ...['a'.repeat(64), 'a'.repeat(65), 'a b', 'é', '\ud800', '\u0000'],
  ...[0, -0, 1, 2, 3, 4, -1, 0.5, 255, 256, 1e21, 2 ** 53, 2 ** 53 - 1, -(2 ** 53), 1e-7],
  ...['1', '2', '3', '255', '256', 'GTC', 'gtc', 'FOK', 'NONE', 'CANCEL_BOTH', 'toString'],
  ...[null, true, false, [], {}, [0], ['0'], { length: 1 }, { toString: 'x' }, [[]]],
];
const STRANGE_NAMES = [
  '',
  'Salt',
  'salt ',
  'constructor',
  'toString',
  'hasOwnProperty',
  'order.salt',
  'extra',
];

type Body = Record<string, unknown>;

function validBody(random: Random): Body {
  const uint = (): string =>
    random.pick(['0', String(random.int(1, 2 ** 40)), String(UINT256_MAX >> BigInt(random.int(0, 3)))]);
  const digits = (count: number): string =>
    Array.from({ length: count }, () => random.pick([...'0123456789abcdefABCDEF'])).join('');
  const order: Body = {
    salt: uint(),
    maker: `0x${digits(40)}`,
    signer: `0x${digits(40)}`,
    taker: `0x${'0'.repeat(40)}`,
    tokenId: uint(),
    makerAmount: uint(),
    takerAmount: uint(),
    expiration: uint(),
    nonce: uint(),
    feeRateBps: uint(),
    side: random.pick([0, 1]),
    signatureType: random.pick([0, 3]),
    signature: `0x${digits(130)}`,
  };
  const options: Body = {
    orderType: random.pick(ORDER_TYPES),
    selfTradePrevention: random.pick(SELF_TRADE_PREVENTIONS),
    clientOrderId: `a-B_9.:${random.int(0, 999)}`,
    deadline: random.int(1, 2 ** 48),
  };
  const chosen = Object.entries(options).filter(() => random.chance(0.3));
  return random.chance(0.5)
    ? { order, ...Object.fromEntries(chosen) }
    : { ...Object.fromEntries(chosen), order };
}

/** An object of its own, because the next damage may change it. */
function edgeOf(random: Random): unknown {
  const edge = random.pick(EDGES);
  return typeof edge === 'object' ? structuredClone(edge) : edge;
}

/** A body with another value, a missing member or one more, at a random depth. */
function damaged(random: Random, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.2)) return edgeOf(random);
  if (Array.isArray(value))
    return random.chance(0.3) ? [...value, edgeOf(random)] : value.map((one) => damaged(random, one));
  const names = Object.keys(value);
  const how = random.weighted({ replace: 6, remove: 1, add: 1 });
  const name = how === 'add' || names.length === 0 ? random.pick(STRANGE_NAMES) : random.pick(names);
  const { [name]: old, ...others } = value as Body;
  return how === 'remove' ? others : { ...others, [name]: damaged(random, old) };
}

/** Every shape, and valid bodies of it. */
const SHAPES = new Map<Shape<unknown>, unknown[]>([
  [renewShape, [{ token: 'a.b.c' }]],
  [subscribeShape, [{ conditionId: HASH }, { conditionIds: [HASH] }, { markets: true }]],
  [unsubscribeShape, [{ conditionId: HASH }, { conditionIds: [HASH] }, { markets: true }]],
]);
for (const { body } of Object.values(OPERATIONS))
  if (body) SHAPES.set(body.shape, [...(SHAPES.get(body.shape) ?? []), body.example]);

function joiAccepts(shape: Shape<unknown>, body: unknown): void {
  const { error, value } = shape.schema.validate(body, { convert: false });
  if (error !== undefined || !isDeepStrictEqual(value, body))
    throw new Error(`${error ?? 'another value'}: ${inspect(body)}`);
}

test('whatever the compiled check of a shape accepts, Joi accepts as it is', () => {
  const random = createRandom(SEED);
  let accepted = 0;
  for (const [shape, bodies] of SHAPES) {
    const accepts = compileSchema(shape.schema);
    const strange = [...EDGES, ...EDGES.map((edge) => ({ '': edge })), undefined, {}];
    const changed = bodies.flatMap((body) => Array.from({ length: 200 }, () => damaged(random, body)));
    for (const body of [...bodies, ...changed, ...strange]) {
      if (!accepts(body)) continue;
      accepted++;
      joiAccepts(shape, body);
    }
  }
  expect(accepted).toBeGreaterThan(SHAPES.size * 5);
});

test('so it is for submissions with several faults', () => {
  const random = createRandom(SEED);
  const accepts = compileSchema(submitShape.schema);
  let accepted = 0;
  for (let round = 0; round < ROUNDS; round++) {
    let body: unknown = validBody(random);
    for (let damages = random.pick([0, 1, 1, 2, 3]); damages > 0; damages--) body = damaged(random, body);
    if (!accepts(body)) continue;
    accepted++;
    joiAccepts(submitShape, body);
  }
  expect(accepted).toBeGreaterThan(ROUNDS / 10);
  expect(accepted).toBeLessThan(ROUNDS / 2);
});

test('each member of a submission takes each edge as Joi does', () => {
  const accepts = compileSchema(submitShape.schema);
  const names = Object.keys(validBody(createRandom(SEED)).order as Body);
  for (const [name, edge] of [...names, ...STRANGE_NAMES].flatMap((one) =>
    EDGES.map((other) => [one, other] as const),
  )) {
    const { order, ...options } = validBody(createRandom(SEED));
    for (const body of [
      { ...options, order: { ...(order as Body), [name]: edge } },
      { ...options, order, [name]: edge },
    ])
      if (accepts(body)) joiAccepts(submitShape, body);
  }
});

test('the bodies of traders are checked without Joi', () => {
  const random = createRandom(SEED);
  const accepts = compileSchema(submitShape.schema);
  for (let n = 0; n < 100; n++) expect(accepts(validBody(random))).toBe(true);
  const others: readonly (readonly [Shape<unknown>, unknown])[] = [
    [emptyShape, {}],
    [cancelShape, { orderHash: HASH }],
    [cancelListShape, { orderHashes: Array.from({ length: 100 }, () => HASH) }],
    [batchShape, { orders: Array.from({ length: 20 }, () => ({ order: {} })) }],
  ];
  for (const [shape, body] of others) expect([body, compileSchema(shape.schema)(body)]).toEqual([body, true]);
});

test('a number of 78 digits is accepted up to 2^256 - 1', () => {
  const accepts = compileSchema(submitShape.schema);
  const withSalt = (salt: bigint): Body => {
    const body = validBody(createRandom(SEED));
    return { ...body, order: { ...(body.order as Body), salt: String(salt) } };
  };
  expect(String(UINT256_MAX)).toHaveLength(78);
  for (const salt of [10n ** 77n, UINT256_MAX]) expect(accepts(withSalt(salt))).toBe(true);
  for (const salt of [UINT256_MAX + 1n, 10n ** 78n]) expect(accepts(withSalt(salt))).toBe(false);
});

test('what JSON Schema does not say is left to Joi', () => {
  const schemas = [
    Joi.string().trim(),
    Joi.string().isoDate(),
    Joi.string().lowercase(),
    Joi.string().default('a'),
    Joi.string().custom((_, helpers) => helpers.error('any.invalid')),
    Joi.object({ a: Joi.any(), b: Joi.any() }).xor('a', 'b'),
    Joi.date(),
  ];
  for (const schema of schemas) {
    const accepts = compileSchema(schema);
    for (const value of ['a', ' a ', 'A', '2020-01-01', {}, { a: 1, b: 1 }])
      expect(accepts(value)).toBe(false);
  }
});
