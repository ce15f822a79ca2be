import type { ErrorCode } from '../../../exchange/errors';
import type { PageSize } from '../../pages';
import { ORDERS } from '../../queries';
import type { Shape } from '../../shape';
import { choice, integer, type Json, ref, text } from './schema';

export const TAGS = {
  Sign: 'Sign-In with Ethereum (EIP-4361), and the life of a session.',
  Markets: 'Markets, their books, trades and prices.',
  Orders: 'Submitting, reading, replacing and cancelling signed orders.',
  Account: "The caller's profile, positions and balances, and its paper funds.",
  Operators: 'Needs the `ADMIN_TOKEN`; on an exchange without one, every operation answers 404.',
  System: 'Probes, configuration, documents.',
};

/** A query member or a header. */
export interface Parameter {
  readonly name: string;
  readonly in?: 'query' | 'header';
  readonly description: string;
  readonly schema: Json;
  readonly example?: unknown;
  readonly required?: true;
  /** The member that sets the number of rows of a page. */
  readonly page?: PageSize;
}

/** The schema of a request's body; `shape` checks it. */
export interface BodyDoc {
  readonly shape: Shape<unknown>;
  readonly example: unknown;
  /** Its name among the schemas, if operations share it; otherwise its name comes from the operation. */
  readonly name?: string;
  /** Replaces Joi's schema where a body is checked in parts. */
  readonly schema?: Json;
  readonly optional?: true;
}

export interface SuccessDoc {
  /** 200 by default. */
  readonly status?: number;
  readonly description: string;
  /** A name of SCHEMAS; without a name the answer has no body. */
  readonly schema?: string;
  readonly example?: unknown;
  readonly headers?: readonly HeaderName[];
  readonly mediaType?: string;
}

export type HeaderName = 'ETag' | 'Idempotent-Replayed';

/** The allowed callers, as in the endpoint. */
export type BearerDoc = 'none' | 'optional' | 'required' | 'admin';

/** One operation in the document. A test compares it with the endpoint of the same method and path. */
export interface Operation {
  readonly id: string;
  /** A name of the interface's tags. */
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly bearer?: BearerDoc;
  readonly parameters?: readonly Parameter[];
  readonly body?: BodyDoc;
  readonly success: SuccessDoc;
  /** Answers without a body besides the success, and their meanings. */
  readonly also?: Readonly<Record<number, string>>;
  /** Counted against a rate limit. */
  readonly limited?: true;
  /** The codes besides those that follow from the bearer, the body, the parameters and the limit. */
  readonly codes?: readonly ErrorCode[];
}

/** By method and path, as in `GET /markets/{id}`. */
export type Operations = Readonly<Record<string, Operation>>;

export const query = (name: string, description: string, schema: Json, example?: unknown): Parameter => ({
  name,
  description,
  schema,
  ...(example === undefined ? {} : { example }),
});

export const limit = (page: PageSize): Parameter => ({
  ...query(
    'limit',
    `Rows in a page; a number above ${page.most} counts as ${page.most}.`,
    integer(undefined, { minimum: 1, default: page.usual }),
    page.usual,
  ),
  page,
});
export const cursor: Parameter = query('cursor', 'The `nextCursor` of the previous page.', text());

/** A time range of a list, and its direction. */
export const period: readonly Parameter[] = [
  query(
    'since',
    'Only rows from this time on, in milliseconds since 1970. To poll, follow `nextCursor` until it is null, then ask from the time of your last row: a millisecond may have more rows than a page.',
    integer(),
    1801483205000,
  ),
  query('until', 'Only rows up to this time, in milliseconds since 1970.', integer(), 1801483210000),
  query(
    'order',
    'Newest or oldest first. A `cursor` continues after the last row of its page, in the direction that you choose.',
    { ...choice(ORDERS), default: 'desc' },
    'desc',
  ),
];

/** Codes that any request can receive. */
const ALWAYS: readonly ErrorCode[] = ['INVALID_REQUEST', 'REQUEST_TIMEOUT', 'INTERNAL', 'UNAVAILABLE'];
const OF_BEARER: Readonly<Record<BearerDoc, readonly ErrorCode[]>> = {
  none: [],
  optional: ['TOKEN_INVALID', 'TOKEN_EXPIRED', 'FORBIDDEN'],
  required: ['UNAUTHORIZED', 'TOKEN_INVALID', 'TOKEN_EXPIRED', 'FORBIDDEN'],
  admin: ['UNAUTHORIZED', 'TOKEN_INVALID', 'NOT_FOUND', 'RATE_LIMITED'],
};
const OF_BODY: readonly ErrorCode[] = ['INVALID_JSON', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];
const OF_PARAMETER: Readonly<Record<string, readonly ErrorCode[]>> = {
  limit: ['INVALID_LIMIT'],
  cursor: ['INVALID_CURSOR'],
  timeframe: ['INVALID_TIMEFRAME'],
  marketId: ['MARKET_NOT_FOUND'],
  ids: ['MARKET_NOT_FOUND'],
};
const OF_PATH: readonly (readonly [string, readonly ErrorCode[]])[] = [
  ['/markets/{id}', ['MARKET_NOT_FOUND']],
  ['/orders/{order_hash}', ['ORDER_NOT_FOUND']],
  ['{wallet_address}', ['INVALID_ADDRESS']],
  ['/profiles/{address}', ['INVALID_ADDRESS']],
  ['/accounts/{address}', ['INVALID_ADDRESS']],
  ['/comments/{comment_id}', ['COMMENT_NOT_FOUND']],
  ['/events/{slug}', ['EVENT_NOT_FOUND']],
];

/** Returns every code that an operation can answer. */
export function codesOf(path: string, operation: Operation): ErrorCode[] {
  const { bearer = 'none', body, limited, parameters = [], codes = [] } = operation;
  return [
    ...new Set([
      ...ALWAYS,
      ...OF_BEARER[bearer],
      ...(body ? OF_BODY : []),
      ...OF_PATH.flatMap(([part, more]) => (path.includes(part) ? more : [])),
      ...parameters.flatMap(({ name }) => OF_PARAMETER[name] ?? []),
      ...(limited ? (['RATE_LIMITED'] as const) : []),
      ...codes,
    ]),
  ];
}

/** Parameters in paths; a name has the same meaning everywhere. */
export const PATH_PARAMETERS: Readonly<
  Record<string, { description: string; schema: Json; example: string }>
> = {
  id: {
    description: 'A market: its id, its `slug` or its `conditionId`.',
    schema: text(undefined, { maxLength: 128 }),
    example: '81cqi70o',
  },
  slug: {
    description: 'An event.',
    schema: text(),
    example: 'rain-2027-03-01',
  },
  order_hash: {
    description: "The order's EIP-712 hash.",
    schema: text(undefined, { pattern: '^0x[0-9a-fA-F]{64}$' }),
    example: '0x2b9bdc3dee7a369a8142fc79c4a25ad7452f0d7f45b885f4b16f4d1c10efd2d6',
  },
  comment_id: {
    description: "A comment's id.",
    schema: text(undefined, { pattern: '^[0-9a-z]{8}-c[1-9][0-9]*$' }),
    example: '81cqi70o-c1',
  },
  key_id: {
    description: 'An API key, by its id.',
    schema: text(undefined, { pattern: '^[0-9a-f]{16}$' }),
    example: '5f0c6d2b9a3e7148',
  },
  address: {
    description: 'A wallet; mixed case must be its EIP-55 checksum.',
    schema: ref('Address'),
    example: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  },
  wallet_address: {
    description: 'The wallet that will sign in; mixed case must be its EIP-55 checksum.',
    schema: ref('Address'),
    example: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  },
};
