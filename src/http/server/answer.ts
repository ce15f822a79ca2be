import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzip } from 'node:zlib';
import type { ErrorCode, Refusal } from '../../exchange/errors';
import { PROBLEM_TYPE, presentProblem, retryAfterSec } from '../../wire/problem';
import type { AnswerHead, Reply } from '../endpoint';

export const REQUEST_ID = 'X-Request-Id';

const JSON_TYPE = 'application/json; charset=utf-8';
/**
 * Node writes headers and a text together, but headers and a buffer separately, which takes longer. As latin1 every byte is
 * a character, so the bytes are the same. Above this size the copies cost more than they save.
 */
const ONE_WRITE_MAX_BYTES = 8_192;
/** The smallest answer to a read that is compressed. A submission is answered at once, whatever its size. */
const COMPRESSED_MIN = 1_024;
/** A third of the time of zlib's usual level, for a tenth more bytes. */
const COMPRESSION_LEVEL = 3;

const GIVEN_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The id that the request brings, if it fits, or a new one. */
export function idFor({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && GIVEN_ID.test(given) ? given : randomUUID();
}

export const requestIdOf = (response: Pick<AnswerHead, 'getHeader'>): string =>
  String(response.getHeader(REQUEST_ID) ?? '');

export function send(response: ServerResponse, reply: Reply): void {
  response.statusCode = reply.status;
  for (const name in reply.headers) response.setHeader(name, reply.headers[name] ?? '');
  const content =
    reply.text?.text ?? reply.json ?? (reply.body === undefined ? undefined : JSON.stringify(reply.body));
  if (content === undefined) {
    response.end();
    return;
  }
  response.setHeader('Content-Type', reply.text?.type ?? JSON_TYPE);
  const { method, headers } = response.req;
  if (content.length < COMPRESSED_MIN || (method !== 'GET' && method !== 'HEAD')) {
    end(response, content);
    return;
  }
  addVary(response, 'Accept-Encoding');
  if (acceptedEncodings(headers['accept-encoding']).has('gzip')) sendCompressed(response, content);
  else end(response, content);
}

function end(response: ServerResponse, content: Buffer | string): void {
  response.setHeader('Content-Length', Buffer.byteLength(content));
  if (typeof content === 'string' || content.length > ONE_WRITE_MAX_BYTES) response.end(content);
  else response.end(content.toString('latin1'), 'latin1');
}

/** Compressed forms of the JSON that is kept for several requests, for as long as it is kept. */
const compressed = new WeakMap<Buffer, Buffer>();

/** In another thread. Nothing else can answer this request meanwhile, but its client may go. */
function sendCompressed(response: ServerResponse, content: Buffer | string): void {
  const known = typeof content === 'string' ? undefined : compressed.get(content);
  const sendPacked = (packed: Buffer): void => {
    response.setHeader('Content-Encoding', 'gzip');
    end(response, packed);
  };
  if (known) {
    sendPacked(known);
    return;
  }
  gzip(content, { level: COMPRESSION_LEVEL }, (error, packed) => {
    if (response.headersSent || response.destroyed) return;
    if (error) {
      end(response, content);
      return;
    }
    if (typeof content !== 'string') compressed.set(content, packed);
    sendPacked(packed);
  });
}

/** The encodings of Accept-Encoding; `q=0` means that the client does not accept one. */
export const acceptedEncodings = (header = ''): ReadonlySet<string> =>
  new Set(
    header
      .toLowerCase()
      .split(',')
      .filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part))
      .map((part) => part.split(';')[0]?.trim() ?? ''),
  );

/** Adds a request header on which the answer depends; CORS may have named one. */
export function addVary(response: Pick<ServerResponse, 'getHeader' | 'setHeader'>, name: string): void {
  const before = response.getHeader('Vary');
  response.setHeader('Vary', before === undefined ? name : `${before}, ${name}`);
}

/** `status` only for an answer without a code of its own. */
export function sendProblem(response: ServerResponse, refusal: Refusal, status?: number): void {
  const problem = presentProblem(
    {
      code: refusal.code,
      detail: refusal.message,
      extra: refusal.extra,
      ...(status === undefined ? {} : { status }),
    },
    requestIdOf(response),
  );
  response.statusCode = problem.status;
  for (const [name, value] of problemHeaders(refusal)) {
    if (!response.hasHeader(name)) response.setHeader(name, value);
  }
  const text = JSON.stringify(problem);
  response.setHeader('Content-Type', PROBLEM_TYPE);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

/** The headers that HTTP requires with a status: the time to retry, the way to sign in. */
function problemHeaders(refusal: Refusal): [string, string][] {
  if (refusal.status === 401) return [['WWW-Authenticate', challenge(refusal.code)]];
  const waitSec = retryAfterSec(refusal);
  return waitSec === null ? [] : [['Retry-After', String(waitSec)]];
}

/** RFC 6750: the answer to a request without credentials names no error. */
function challenge(code: ErrorCode): string {
  const scheme = 'Bearer realm="exchange"';
  if (code === 'UNAUTHORIZED') return scheme;
  return `${scheme}, error="invalid_token"${code === 'TOKEN_EXPIRED' ? ', error_description="the token has expired"' : ''}`;
}

/** A problem as raw HTTP, for a request that never became one. */
export function rawProblem(
  status: number,
  reason: string,
  code: ErrorCode,
  detail: string,
  requestId: string,
): string {
  const text = JSON.stringify(presentProblem({ code, detail, status }, requestId));
  return [
    `HTTP/1.1 ${status} ${reason}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    `${REQUEST_ID}: ${requestId}`,
    'Connection: close',
    '',
    text,
  ].join('\r\n');
}
