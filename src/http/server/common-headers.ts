import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import cors from 'cors';
import type { Request, RequestHandler, Response } from 'express';
import helmet, { type HelmetOptions } from 'helmet';
import { Refusal } from '../../exchange/errors';
import type { HttpDeps } from '../context';
import { idFor, REQUEST_ID } from './answer';
import { type HeldResponse, type SharedHeaders, sharedHeaders } from './held-response';

const EXPOSED = [
  REQUEST_ID,
  'ETag',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'Idempotent-Replayed',
  'X-Durability',
  'X-Epoch',
];
const SECOND_MS = 1_000;
const PREFLIGHT_MAX_AGE_SEC = 600;

type Headers = readonly (readonly [name: string, value: string])[];

/** The headers of this second: those of every answer, with the restrictions for browsers, and with those for other sites. */
interface Made {
  readonly date: string;
  readonly durability: string | undefined;
  readonly epoch: string | undefined;
  readonly least: SharedHeaders;
  readonly secure: SharedHeaders;
  readonly whole: SharedHeaders;
}

/**
 * Sets the headers of every answer: the id of its request, the durability of Redis, the epoch, restrictions for browsers, and
 * what pages of other sites may do (CORS_ORIGINS). It refuses requests that HTTP/1.1 says must be refused.
 */
export type CommonHeaders = (request: Request, response: Response & HeldResponse) => void;

export function createCommonHeaders({ config, reads, durability: checks }: HttpDeps): CommonHeaders {
  const date = createDate(reads.clock);
  const restrictions = headersOf(helmet(securityHeaders(config.publicBaseUrl)));
  const crossOrigin = cors({
    origin: config.corsOrigins === '*' ? '*' : [...config.corsOrigins],
    exposedHeaders: EXPOSED,
    maxAge: PREFLIGHT_MAX_AGE_SEC,
    preflightContinue: true,
  });
  // Programs and our own page send no Origin and all get the same headers.
  const withoutOrigin = headersOf(crossOrigin);
  let made: Made | undefined;

  function current(): Made {
    const { durability, epoch } = checks.current() ?? {};
    const now = date();
    if (made && made.date === now && made.durability === durability && made.epoch === epoch) return made;
    const least: Headers = [
      ['Date', now],
      ['Cache-Control', 'no-store'],
      ...(durability === undefined ? [] : [['X-Durability', durability] as const]),
      ...(epoch === undefined ? [] : [['X-Epoch', epoch] as const]),
    ];
    made = {
      date: now,
      durability,
      epoch,
      least: sharedHeaders(least),
      secure: sharedHeaders([...least, ...restrictions]),
      whole: sharedHeaders([...least, ...restrictions, ...withoutOrigin]),
    };
    return made;
  }

  return (request, response) => {
    response.setHeader(REQUEST_ID, idFor(request));
    const { least, secure, whole } = current();
    const { host, origin } = request.headers;
    if (host === undefined && request.httpVersion === '1.1') {
      response.share(least);
      throw new Refusal('INVALID_REQUEST', 'the Host header is missing; send it');
    }
    response.share(origin === undefined ? whole : secure);
    if (origin !== undefined) crossOrigin(request, response, () => undefined);
  };
}

/** Without TLS in front, this header would lock browsers out. */
function securityHeaders(publicBaseUrl: string): HelmetOptions {
  if (publicBaseUrl.startsWith('https:')) return {};
  const contentSecurityPolicy = { directives: { upgradeInsecureRequests: null } };
  return { strictTransportSecurity: false, contentSecurityPolicy };
}

/** The headers that a middleware gives every request that says nothing about itself. */
function headersOf(middleware: RequestHandler): Headers {
  const answer = new ServerResponse(new IncomingMessage(new Socket()));
  middleware(answer.req as Request, answer as Response, () => {});
  return Object.entries(answer.getHeaders()).map(([name, value]) => [name, String(value)]);
}

/** The text of the Date header, made once a second by the clock of Redis. */
function createDate(nowMs: () => number): () => string {
  let second = Number.NaN;
  let text = '';
  return () => {
    const current = Math.floor(nowMs() / SECOND_MS);
    if (current !== second) {
      second = current;
      text = new Date(current * SECOND_MS).toUTCString();
    }
    return text;
  };
}
