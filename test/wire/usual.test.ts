import { Refusal } from '../../src/exchange/errors';
import { ORDER_TYPES, SELF_TRADE_PREVENTIONS } from '../../src/exchange/status';
import {
  batchShape,
  cancelListShape,
  cancelShape,
  emptyShape,
  submitShape,
} from '../../src/wire/requests/orders';
import { isUsualSubmission } from '../../src/wire/requests/usual';
import { createShape, type Shape } from '../../src/wire/shape';
import { createRandom, type Random } from '../support/random';

/** The schema decides. The quick look may only say yes to bodies that the schema accepts, and to the same value. */
const ROUNDS = 3_000;
const SEED = 20;
/** The same schema without the quick look. */
const alone = createShape(submitShape.schema);

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
const ORDER_NAMES = [
  ...['salt', 'maker', 'signer', 'taker', 'tokenId', 'makerAmount', 'takerAmount', 'expiration', 'nonce'],
  ...['feeRateBps', 'side', 'signatureType', 'signature'],
];
const OPTION_NAMES = ['orderType', 'selfTradePrevention', 'clientOrderId', 'deadline'];
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
    ...{ salt: uint(), maker: `0x${digits(40)}`, signer: `0x${digits(40)}`, taker: `0x${'0'.repeat(40)}` },
    ...{ tokenId: uint(), makerAmount: uint(), takerAmount: uint(), expiration: uint(), nonce: uint() },
    ...{ feeRateBps: uint(), side: random.pick([0, 1]), signatureType: random.pick([0, 3]) },
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
  return typeof edge === 'object' ? JSON.parse(JSON.stringify(edge)) : edge;
}

/** Another value, a missing member, or one more. */
function damage(random: Random, body: Body): void {
  const order = body.order;
  const inOrder = random.chance(0.7) && typeof order === 'object' && order !== null && !Array.isArray(order);
  const target = inOrder ? (order as Body) : body;
  const names = inOrder ? ORDER_NAMES : ['order', ...OPTION_NAMES];
  const how = random.weighted({ replace: 6, remove: 1, add: 1 });
  if (how === 'remove') delete target[random.pick(names)];
  else target[random.pick(how === 'add' ? [...STRANGE_NAMES, ...OPTION_NAMES] : names)] = edgeOf(random);
}

function randomBody(random: Random): unknown {
  const body = validBody(random);
  for (let damages = random.pick([0, 1, 1, 2, 3]); damages > 0; damages--) damage(random, body);
  return body;
}

const outcomeOf = (shape: Shape<unknown>, value: unknown): unknown => {
  try {
    return { accepted: shape.parse(value) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { code: error.code, message: error.message, extra: error.extra };
  }
};

test('a usual body is one that the schema accepts as it is; others have the outcome of the schema', () => {
  const random = createRandom(SEED);
  const counts = { usual: 0, accepted: 0, refused: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const body = randomBody(random);
    const expected = outcomeOf(alone, body);
    const isAccepted = 'accepted' in (expected as object);
    const isUsual = isUsualSubmission(body);
    if (isUsual) expect(expected).toStrictEqual({ accepted: body });
    expect(outcomeOf(submitShape, body)).toStrictEqual(expected);
    counts[isUsual ? 'usual' : isAccepted ? 'accepted' : 'refused']++;
  }
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(ROUNDS / 250);
});

test('a number of 78 digits is usual up to 2^256 - 1', () => {
  const withSalt = (salt: bigint): Body => {
    const body = validBody(createRandom(SEED));
    return { ...body, order: { ...(body.order as Body), salt: String(salt) } };
  };
  expect(String(UINT256_MAX)).toHaveLength(78);
  for (const salt of [10n ** 77n, UINT256_MAX]) expect(isUsualSubmission(withSalt(salt))).toBe(true);
  for (const salt of [UINT256_MAX + 1n, 10n ** 78n]) expect(isUsualSubmission(withSalt(salt))).toBe(false);
});

test('each member takes each edge as the schema does', () => {
  for (const names of [ORDER_NAMES, [...OPTION_NAMES, 'order', ...STRANGE_NAMES]]) {
    for (const name of names) {
      for (const edge of EDGES) {
        const body = validBody(createRandom(SEED));
        const target = names === ORDER_NAMES ? (body.order as Body) : body;
        target[name] = edge;
        const expected = outcomeOf(alone, body);
        expect(outcomeOf(submitShape, body)).toStrictEqual(expected);
        if (isUsualSubmission(body)) expect(expected).toStrictEqual({ accepted: body });
      }
    }
  }
});

test('values that are no objects, and an empty object, have the outcome of the schema', () => {
  const emptyAlone = createShape(emptyShape.schema);
  for (const value of [...EDGES, undefined, { order: 1 }, { '': 1 }]) {
    expect(outcomeOf(submitShape, value)).toStrictEqual(outcomeOf(alone, value));
    expect(outcomeOf(emptyShape, value)).toStrictEqual(outcomeOf(emptyAlone, value));
  }
  expect(outcomeOf(emptyShape, {})).toStrictEqual({ accepted: {} });
});

test('lists of every length, with every edge, have the outcome of the schema', () => {
  const hash = `0x${'aB'.repeat(32)}`;
  const shapes: readonly (readonly [Shape<unknown>, string, unknown, number])[] = [
    [batchShape, 'orders', { order: {} }, 20],
    [cancelListShape, 'orderHashes', hash, 100],
  ];
  for (const [shape, name, item, most] of shapes) {
    const slow = createShape(shape.schema);
    const lists = [0, 1, most, most + 1].map((length) => Array.from({ length }, () => item));
    const edges = EDGES.flatMap((edge) => [edge, [edge], [item, edge], [edge, item, item]]);
    const strange = [{}, { [name]: [item], extra: 1 }, { other: [item] }, ...EDGES];
    for (const body of [...[...lists, ...edges].map((list) => ({ [name]: list })), ...strange])
      expect(outcomeOf(shape, body)).toStrictEqual(outcomeOf(slow, body));
  }
});

test('a cancel with every edge has the outcome of the schema', () => {
  const slow = createShape(cancelShape.schema);
  const hash = `0x${'aB'.repeat(32)}`;
  const hashes = [hash, ...EDGES].map((orderHash) => ({ orderHash }));
  for (const body of [...hashes, {}, { orderHash: hash, extra: 1 }, { other: hash }, ...EDGES])
    expect(outcomeOf(cancelShape, body)).toStrictEqual(outcomeOf(slow, body));
  expect(outcomeOf(cancelShape, { orderHash: hash })).toStrictEqual({ accepted: { orderHash: hash } });
});

test('a valid body with numbers of the usual size is usual', () => {
  const random = createRandom(SEED);
  for (let n = 0; n < 100; n++) expect(isUsualSubmission(validBody(random))).toBe(true);
});
