import { ERRORS, type ErrorCode, HINTS } from '../../../../exchange/errors';
import { LIMITS } from '../../../limits';
import { presentProblem } from '../../../problem';
import {
  array,
  choice,
  constant,
  described,
  integer,
  type Json,
  nullable,
  object,
  ref,
  text,
} from '../schema';
import { CHAIN_PROBLEMS } from './chain';

/** The members of a problem besides those of every problem. Members after `?` are optional. */
export interface Extension {
  readonly members: Readonly<Record<string, Json>>;
  readonly optional?: readonly string[];
  readonly example?: Readonly<Record<string, unknown>>;
}

const nearest = (schema: Json): Extension => ({
  members: {
    nearest: array(schema, {
      minItems: 2,
      maxItems: 2,
      description: 'The nearest lower and upper value that are valid, or null where there is none.',
    }),
  },
  optional: ['nearest'],
});
const errors: Extension = {
  members: { errors: described(array(ref('FieldError')), 'Every member of the request that is wrong.') },
  optional: ['errors'],
  example: { errors: [{ path: 'orderType', message: 'must be one of [GTC, IOC, FOK, POST_ONLY, MARKET]' }] },
};

const EXTENSIONS: { readonly [Code in ErrorCode]?: Extension } = {
  INVALID_REQUEST: {
    members: {
      ...errors.members,
      allowed: array(text(), {
        description: 'The values that the query member may have, where there are few.',
      }),
    },
    optional: ['errors', 'allowed'],
    ...(errors.example && { example: errors.example }),
  },
  INVALID_ADDRESS: errors,
  INVALID_LIMIT: errors,
  INVALID_CURSOR: { ...errors, example: {} },
  INVALID_TIMEFRAME: {
    members: { ...errors.members, allowed: array(ref('Timeframe')) },
    optional: ['errors'],
    example: { allowed: ['1h', '6h', '1d', '1w', '1m', 'all'] },
  },
  INVALID_SIGNATURE: {
    members: {
      recovered: nullable(ref('Address')),
      expectedHash: ref('Hash'),
      hint: described(
        nullable(choice([...HINTS])),
        'The one mistake that explains the signature, when a known value does: docs/use/signing.md has what each means. Null proves nothing: the mistake may be another one, and a process spends a tenth of its time on hints at most.',
      ),
    },
    example: {
      recovered: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      expectedHash: '0x2b9bdc3dee7a369a8142fc79c4a25ad7452f0d7f45b885f4b16f4d1c10efd2d6',
      hint: 'CHAIN_ID',
    },
  },
  MARKET_NOT_OPEN: {
    members: {
      retryable: described(
        { type: 'boolean' },
        'True when the market may open, because it is a draft or paused.',
      ),
    },
    example: { retryable: true },
  },
  INVALID_EXPIRATION: {
    members: {
      maximum: described(
        ref('Uint256'),
        'The latest expiration that the order may have: 2100-01-01, and with funds on a chain ten minutes ahead for `IOC`, `FOK` and `MARKET`, which must have one.',
      ),
      minimum: described(
        ref('Uint256'),
        'The earliest expiration that an order with one may have now, with funds on a chain.',
      ),
    },
    // A refused expiration passes one of the two.
    optional: ['maximum', 'minimum'],
    example: { maximum: '4102444800' },
  },
  INVALID_TICK: { ...nearest(nullable(ref('Price'))), example: { nearest: ['0.62', '0.63'] } },
  INVALID_LOT: { ...nearest(ref('Size')), example: { nearest: ['10', '10.01'] } },
  INVALID_FEE_RATE: { members: { required: ref('Uint256') }, example: { required: '0' } },
  INVALID_NONCE_VALUE: {
    members: { current: ref('Uint256') },
    optional: ['current'],
    example: { current: '1' },
  },
  SIWE_INVALID: {
    members: { field: text('The member of the message that is wrong.') },
    example: { field: 'chainId' },
  },
  DUPLICATE_ORDER: {
    members: { orderHash: ref('Hash') },
    optional: ['orderHash'],
    example: { orderHash: '0x2b9bdc3dee7a369a8142fc79c4a25ad7452f0d7f45b885f4b16f4d1c10efd2d6' },
  },
  ORDER_NOT_CANCELLABLE: { members: { order: ref('Order') }, optional: ['order'] },
  FOK_NOT_FILLED: {
    members: { available: described(ref('Size'), 'The number of shares that could be filled now.') },
    example: { available: '40' },
  },
  RATE_LIMITED: {
    members: {
      scope: described(
        choice([...Object.keys(LIMITS), 'faucet', 'pace', 'sockets']),
        'The name of the limit in `GET /config`.',
      ),
    },
    optional: ['scope'],
    example: { scope: 'reads' },
  },
  POST_ONLY_WOULD_CROSS: {
    members: { best: described(ref('Price'), 'The price at which the order would trade, in its own token.') },
    example: { best: '0.6' },
  },
  INSUFFICIENT_BALANCE: {
    members: {
      required: ref('Money'),
      available: ref('Money'),
      asset: choice(['COLLATERAL', 'YES', 'NO']),
    },
    example: { required: '62', available: '40', asset: 'COLLATERAL' },
  },
  // A refusal has those of the request: of a cancel of all orders, of a nonce, of a mode.
  UNAVAILABLE: {
    members: {
      cancelled: described(
        array(ref('Hash')),
        'Only with several shards, when one did not answer: the orders that were cancelled in the others.',
      ),
      sequences: {
        type: 'object',
        description:
          'The sequence of the latest cancel in each market, by market id; it comes with `cancelled`.',
        additionalProperties: ref('Sequence'),
      },
      nonce: described(
        ref('Uint256'),
        'Only with several shards: the nonce is raised to this, and a shard that did not answer learns it later.',
      ),
      mode: described(
        ref('Mode'),
        'Only with several shards: the mode is set to this, except in the shards of `silent`, which get it later.',
      ),
      silent: array(integer(undefined, { minimum: 0 }), {
        description: 'The numbers of the shards that did not answer; they come with `mode`.',
      }),
    },
    optional: ['cancelled', 'sequences', 'nonce', 'mode', 'silent'],
  },
  ...CHAIN_PROBLEMS,
};

/** Statuses of requests that Node refuses before they are parsed, besides the one of the code. */
const OTHER_STATUSES: { readonly [Code in ErrorCode]?: number } = { INVALID_REQUEST: 431 };

/** The schema of `INVALID_TICK` is `InvalidTickProblem`. */
export const problemSchemaName = (code: ErrorCode): string =>
  `${code
    .split('_')
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join('')}Problem`;

/** The explanation of each code. */
export const problemExample = (code: ErrorCode): Json =>
  presentProblem(
    { code, detail: ERRORS[code].title, extra: EXTENSIONS[code]?.example ?? {} },
    '3f6f3c0e-9a0b-4f3e-8d52-0c1d9a54b1a7',
  );

function problemSchema(code: ErrorCode): Json {
  const { type, title, status, retryable } = problemExample(code) as ReturnType<typeof presentProblem>;
  const { members = {}, optional = [] } = EXTENSIONS[code] ?? {};
  const other = OTHER_STATUSES[code];
  return object(
    {
      type: constant(type),
      title: constant(title),
      status: other === undefined ? constant(status) : { enum: [status, other] },
      code: constant(code),
      detail: text(),
      requestId: text('The id of the request, which the header `X-Request-Id` repeats.'),
      retryable: constant(retryable),
      ...members,
    },
    optional,
  );
}

const CODES = Object.keys(ERRORS) as ErrorCode[];

/** RFC 9457: a schema for each code, and `Problem`, which is any of them. */
export const PROBLEM_SCHEMAS: Readonly<Record<string, Json>> = {
  FieldError: object({ path: text(), message: text() }),
  Problem: { oneOf: CODES.map((code) => ref(problemSchemaName(code))), ...discriminator(CODES) },
  ...Object.fromEntries(CODES.map((code) => [problemSchemaName(code), problemSchema(code)])),
};

/** The code selects the schema of a `oneOf`. */
export function discriminator(codes: readonly ErrorCode[]): Json {
  const mapping = Object.fromEntries(codes.map((code) => [code, ref(problemSchemaName(code)).$ref]));
  return { discriminator: { propertyName: 'code', mapping } };
}
