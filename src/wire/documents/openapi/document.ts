import { ERRORS, type ErrorCode } from '../../../exchange/errors';
import type { Api } from '../../api';
import { PROBLEM_TYPE } from '../../problem';
import { emptyShape } from '../../requests/orders';
import { codesOf, type HeaderName, type Operation, PATH_PARAMETERS } from './operation';
import { constant, type Json, jsonSchemaOf, ref, text } from './schema';
import { discriminator, problemExample, problemSchemaName } from './schemas/problems';

/** The version of the program, as `GET /version` has it. */
export const { version: INTERFACE_VERSION } = require('../../../../package.json') as { version: string };
const JSON_TYPE = 'application/json';

/** `required` for a header that every answer has. */
const HEADERS: Readonly<Record<string, { description: string; required?: true; schema: Json }>> = {
  'X-Request-Id': {
    required: true,
    description:
      'The id of this request in the log of the exchange. Your own id is kept if it has 1 to 64 characters of `[A-Za-z0-9_-]`.',
    schema: text(),
  },
  ETag: {
    description:
      'For `If-None-Match`. That of a book is its sequence; `"<sequence>-<epoch>"` from the second epoch of the data on.',
    schema: text(),
  },
  RateLimit: {
    description:
      'The points left of each limit that counted the request, separated by commas: `"submissions";r=399;t=1, "orders";r=49;t=1`. For `orders` and `cancels` these are the points left of the steady rate `q`, without the burst.',
    schema: text(),
  },
  'RateLimit-Policy': {
    description:
      'The limits that counted the request: `q` points in `w` seconds and, where the limit has one, a burst of at most `burst` points: `"submissions";q=200;w=1;burst=400, "orders";q=50;w=1;burst=100`.',
    schema: text(),
  },
  'Retry-After': { required: true, description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
  'Idempotent-Replayed': {
    description:
      '`true` when this was done before by an earlier request: the answer is of the present state.',
    schema: constant('true'),
  },
  'WWW-Authenticate': { required: true, description: 'How to sign in (RFC 6750).', schema: text() },
};

const header = (name: string): Json => ({ [name]: { $ref: `#/components/headers/${name}` } });
const headersOf = (names: readonly string[]): Json => ({
  headers: Object.assign({}, ...['X-Request-Id', ...names].map(header)),
});

/** The headers of every answer of a limited operation. */
const LIMIT_HEADERS = ['RateLimit', 'RateLimit-Policy'];

function successOf({ success, limited }: Operation): Json {
  const { description, schema, example, headers = [], mediaType = JSON_TYPE } = success;
  const names: string[] = [...(headers as readonly HeaderName[]), ...(limited ? LIMIT_HEADERS : [])];
  return {
    description,
    ...headersOf(names),
    ...(schema === undefined ? {} : { content: { [mediaType]: { schema: ref(schema), example } } }),
  };
}

function headersOfStatus(status: number): string[] {
  if (status === 401) return ['WWW-Authenticate'];
  if (status === 429) return ['Retry-After', ...LIMIT_HEADERS];
  return status === 503 ? ['Retry-After'] : [];
}

function problemAnswer(status: number, codes: readonly ErrorCode[]): Json {
  const [only] = codes;
  const schema =
    codes.length === 1 && only
      ? ref(problemSchemaName(only))
      : { oneOf: codes.map((code) => ref(problemSchemaName(code))), ...discriminator(codes) };
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].title}.`).join(' '),
    ...headersOf(headersOfStatus(status)),
    content: {
      [PROBLEM_TYPE]: {
        schema,
        examples: Object.fromEntries(codes.map((code) => [code, { value: problemExample(code) }])),
      },
    },
  };
}

/** Answers that many operations share, by name. */
type SharedAnswers = Map<string, Json>;

/** The longest list of codes that gets a name; a longer list belongs to one operation. */
const SHARED_CODES_MAX = 3;

function problemsOf(path: string, operation: Operation, shared: SharedAnswers): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codesOf(path, operation)) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const answers = [...byStatus].map(([status, codes]): [number, Json] => {
    const answer = problemAnswer(status, codes);
    if (codes.length > SHARED_CODES_MAX) return [status, answer];
    const name = codes.join('.');
    shared.set(name, answer);
    return [status, { $ref: `#/components/responses/${name}` }];
  });
  // A request whose headers are too long may have been for any of them.
  shared.set('HEADERS_TOO_LARGE', problemAnswer(431, ['INVALID_REQUEST']));
  answers.push([431, { $ref: '#/components/responses/HEADERS_TOO_LARGE' }]);
  return Object.fromEntries(answers);
}

const SECURITY: Readonly<Record<NonNullable<Operation['bearer']>, readonly Json[]>> = {
  none: [],
  optional: [{}, { wallet: [] }],
  required: [{ wallet: [] }],
  admin: [{ operator: [] }],
};

function parametersOf(path: string, { parameters = [] }: Operation): Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...PATH_PARAMETERS[name],
  }));
  return [...inPath, ...parameters.map(({ page: _, ...one }) => ({ in: 'query', ...one }))];
}

/** The names of bodies, because generators make a type of each. */
function bodyName({ id, body }: Operation): string {
  if (body?.name !== undefined) return body.name;
  return body?.shape === emptyShape ? 'EmptyBody' : `${id.charAt(0).toUpperCase()}${id.slice(1)}Body`;
}

function bodyOf(operation: Operation): Json {
  const { body } = operation;
  if (!body) return {};
  return {
    requestBody: {
      required: body.optional !== true,
      content: { [JSON_TYPE]: { schema: ref(bodyName(operation)), example: body.example } },
    },
  };
}

const bodySchemas = ({ operations }: Api): Json =>
  Object.fromEntries(
    Object.values(operations).flatMap((operation) => {
      const { body } = operation;
      return body ? [[bodyName(operation), body.schema ?? jsonSchemaOf(body.shape)]] : [];
    }),
  );

function operationOf(path: string, operation: Operation, shared: SharedAnswers): Json {
  const { id, tag, summary, description, bearer = 'none', success, also = {} } = operation;
  const parameters = parametersOf(path, operation);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: SECURITY[bearer],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...bodyOf(operation),
    responses: {
      [success.status ?? 200]: successOf(operation),
      ...Object.fromEntries(
        Object.entries(also).map(([status, meaning]) => [
          status,
          { description: meaning, ...headersOf(success.headers ?? []) },
        ]),
      ),
      ...problemsOf(path, operation, shared),
    },
  };
}

const DESCRIPTION = `A prediction-market exchange: signed EIP-712 orders of the Conditional Tokens exchange, matched
atomically. Money, sizes and prices are decimal strings in whole units, without zeros at the end. Times are ISO 8601 in
members that end in \`At\`, epoch milliseconds in \`timestamp\`, epoch seconds in \`expiration\`. Outcomes are listed Yes
first, then No. A request body with a member that is not described here is refused, and no answer has one. Live updates
are described in [/asyncapi.json](/asyncapi.json).`;

/** The document does not depend on the part of the interface that has an operation or a schema. */
const sorted = (parts: Json): Json =>
  Object.fromEntries(Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : 1)));

/** The OpenAPI 3.1 document of an exchange with this interface. */
export function openApiDocument(api: Api): Json {
  const paths: Record<string, Record<string, Json>> = {};
  const shared: SharedAnswers = new Map();
  for (const [key, operation] of Object.entries(api.operations)) {
    const [method = '', path = ''] = key.split(' ');
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(path, operation, shared) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'CTF exchange',
      version: INTERFACE_VERSION,
      description: DESCRIPTION,
      contact: { name: 'The operator of this exchange' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The server of this document.' }],
    tags: Object.entries(api.tags).map(([name, description]) => ({ name, description })),
    paths: sorted(Object.fromEntries(Object.entries(paths).map(([path, one]) => [path, sorted(one)]))),
    components: {
      securitySchemes: {
        wallet: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'The access token of `POST /auth/verify`.',
        },
        operator: { type: 'http', scheme: 'bearer', description: "The exchange's `ADMIN_TOKEN`." },
      },
      headers: HEADERS,
      responses: sorted(Object.fromEntries(shared)),
      schemas: sorted({ ...api.schemas, ...bodySchemas(api) }),
    },
  };
}
