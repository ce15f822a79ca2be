import type { ErrorCode } from '../../src/exchange/errors';
import { CONSOLE_PATHS } from '../../src/extensions/console/wire/paths';
import type { Message } from '../../src/wire/documents/asyncapi/message';
import { MESSAGES } from '../../src/wire/documents/asyncapi/messages';
import { problemSchemaName } from '../../src/wire/documents/openapi/schemas/problems';
import { PATHS } from '../../src/wire/paths';
import { OPEN_API } from './api';
import { faultsAt, pointerPart } from './schemas';

/** Compares every observed answer of the exchange with its documents. */
export interface Seen {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body of the request, if it is JSON. */
  readonly sent?: string;
}

interface Problem {
  readonly code: ErrorCode;
}
interface Answer {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, unknown>>;
}
interface Documented {
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, Answer>>;
}

const PROBLEM = 'application/problem+json';
/** The pages for browsers are no part of the document. */
const PAGE_TYPES = /^(text\/(html|css|javascript)|application\/javascript|image\/)/;
const PAGES = [CONSOLE_PATHS.queues, PATHS.docs];
/** AsyncAPI describes it; its refusals are problems as everywhere. */
const SOCKET_PATH = '/socket.io';
/** Answers that a request gets before its path is known. */
const EARLY = new Set([400, 408, 413, 417, 431, 503]);

const document = OPEN_API as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, Answer>>;
    readonly headers: Readonly<Record<string, { readonly required?: boolean }>>;
  };
};

/** Paths without parameters first, as in the router. */
const matchers = Object.keys(document.paths)
  .sort((a, b) => Number(a.includes('{')) - Number(b.includes('{')))
  .map((template) => ({
    template,
    pattern: new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}/?$`),
  }));

/** The differences from the document; empty when there are none. */
export function violationsOf(seen: Seen): string[] {
  const { method, status } = seen;
  const path = seen.path.split('?')[0] ?? '';
  const { template } = matchers.find(({ pattern }) => pattern.test(path)) ?? {};
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  const operation = template === undefined ? undefined : document.paths[template]?.[verb];
  const faults =
    operation && template !== undefined
      ? ofOperation(seen, operation, `openapi.json#/paths/${pointerPart(template)}/${verb}`)
      : elsewhere(seen, path);
  return faults.map((fault) => `${method} ${seen.path} -> ${status}: ${fault}\n${seen.text.slice(0, 500)}`);
}

function ofOperation(seen: Seen, { responses, requestBody }: Documented, pointer: string): string[] {
  const told = responses[seen.status];
  if (!told) return ['the status is not documented'];
  const name = told.$ref?.split('/').at(-1);
  const answer = name === undefined ? told : document.components.responses[name];
  const at =
    name === undefined
      ? `${pointer}/responses/${seen.status}`
      : `openapi.json#/components/responses/${pointerPart(name)}`;
  const request = requestBody === undefined ? [] : requestFaults(seen, `${pointer}/requestBody`);
  return [...headerFaults(seen, answer), ...bodyFaults(seen, answer, at), ...request];
}

/** In a batch, each order is accepted or refused by itself. */
const IN_PARTS = /\/orders\/batch$/;

/** The document must allow every accepted request: a schema that is too narrow would turn clients away. */
function requestFaults({ path, status, sent }: Seen, pointer: string): string[] {
  if (IN_PARTS.test(path) || status >= 300 || sent === undefined || sent === '') return [];
  return faultsAt(`${pointer}/content/application~1json/schema`, JSON.parse(sent)).map(
    (fault) => `request: ${fault}`,
  );
}

function headerFaults({ headers }: Seen, answer: Answer | undefined): string[] {
  return Object.keys(answer?.headers ?? {})
    .filter((name) => document.components.headers[name]?.required && !headers.has(name))
    .map((name) => `the header ${name} is missing`);
}

function bodyFaults({ method, headers, text }: Seen, answer: Answer | undefined, pointer: string): string[] {
  if (method === 'HEAD') return [];
  const type = mediaTypeOf(headers);
  if (!answer?.content) return text === '' ? [] : ['there is a body where none is documented'];
  if (!(type in answer.content)) return [`the media type ${type} is not documented`];
  const body = bodyOf(type, text);
  return type === PROBLEM
    ? problemFaults(body as Problem, answer.content[type])
    : faultsAt(`${pointer}/content/${pointerPart(type)}/schema`, body);
}

/** The code selects the schema. */
function problemFaults(problem: Problem, told?: unknown): string[] {
  const pointer = `openapi.json#/components/schemas/${problemSchemaName(problem.code)}`;
  return told === undefined || codesOf(told).has(problem.code)
    ? faultsAt(pointer, problem)
    : [`${problem.code} is not documented`];
}

const codes = new WeakMap<object, ReadonlySet<string>>();

/** The codes by which the examples of a media type are named. */
function codesOf(told: unknown): ReadonlySet<string> {
  const media = told as { readonly examples: object };
  const known = codes.get(media) ?? new Set(Object.keys(media.examples));
  codes.set(media, known);
  return known;
}

/** Answers at an undocumented path, or by an undocumented method. */
function elsewhere({ method, status, headers, text }: Seen, path: string): string[] {
  const type = mediaTypeOf(headers);
  if (PAGES.some((page) => path.startsWith(page))) {
    return type === PROBLEM ? problemFaults(bodyOf(type, text) as Problem) : [];
  }
  if (status === 304 || (status === 200 && PAGE_TYPES.test(type))) return [];
  if (path.startsWith(SOCKET_PATH) && type === PROBLEM) return problemFaults(bodyOf(type, text) as Problem);
  if (method === 'OPTIONS' && status === 204) return [];
  if (status === 405 && !headers.has('allow')) return ['405 without Allow'];
  if (status !== 404 && status !== 405 && !EARLY.has(status)) return ['this is not documented'];
  if (method === 'HEAD') return [];
  return type === PROBLEM ? problemFaults(bodyOf(PROBLEM, text) as Problem) : ['no problem document'];
}

const mediaTypeOf = (headers: Headers): string => (headers.get('content-type') ?? '').split(';')[0] ?? '';

const bodyOf = (type: string, text: string): unknown => (/json/.test(type) ? JSON.parse(text) : text);

const messages = Object.entries(MESSAGES) as [string, Message][];

/** The same for a payload that a socket received, as JSON: an event, or an acknowledgement. */
export function socketViolationsOf(
  kind: 'ack' | 'event',
  event: string,
  payload: string | undefined,
): string[] {
  const [name] =
    messages.find(
      ([, message]) => message.event === event && (kind === 'ack') === (message.kind === 'ack'),
    ) ?? [];
  const told = payload === undefined ? undefined : JSON.parse(payload);
  const faults =
    name === undefined
      ? ['the event is not documented']
      : faultsAt(`asyncapi.json#/components/messages/${name}/payload`, told);
  return faults.map((fault) => `${kind} ${event}: ${fault}\n${payload?.slice(0, 500)}`);
}
