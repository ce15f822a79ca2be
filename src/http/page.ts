import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Express, RequestHandler } from 'express';
import type { Config } from '../config/load';
import { acceptedEncodings, addVary } from './answer';
import { names } from './conditional';
import { otherMethods } from './methods';

/** One file of the page, in memory: the whole page is smaller than the book of a busy market. */
export interface PageFile {
  readonly type: string;
  readonly cacheControl: string;
  /** Best first; uncompressed last. */
  readonly variants: readonly Variant[];
}

interface Variant {
  readonly encoding: 'br' | 'gzip' | null;
  readonly etag: string;
  readonly body: Buffer;
}

/** By path. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;
/** Documents that people open have addresses without a hash. */
const ADDRESSES: Readonly<Record<string, string>> = { '/index.html': '/', '/operate.html': '/operate' };
/** Names in this folder contain a hash of the content. */
const HASHED = '/assets/';
const FOR_EVER = 'public, max-age=31536000, immutable';
/** A copy may be kept, but must be revalidated each time. */
const ASK_FIRST = 'no-cache';

export type PolicyFacts = Pick<Config, 'publicBaseUrl' | 'chain'>;

/**
 * The page may use only resources of this server: no inline script or style, no frame around it, no picture or font of
 * another site. `connect-src` names the socket, because some browsers do not count it as 'self'.
 */
export const policyOf = ({ publicBaseUrl, chain }: PolicyFacts): string => {
  const socket = `${publicBaseUrl.replace(/^http/, 'ws').replace(/^(wss?:\/\/[^/]+).*$/, '$1')}`;
  const node = chain?.publicRpcUrl;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "manifest-src 'self'",
    // A test wallet sends its transactions to the node by itself.
    ['connect-src', "'self'", socket, ...(node ? [new URL(node).origin] : [])].join(' '),
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
};

/** Returns the files that `npm run build` made, by their paths; empty when they have not been built. */
export function loadPage(folder: string): PageFiles {
  if (!existsSync(folder)) return new Map();
  const files = (readdirSync(folder, { recursive: true }) as string[]).filter(
    (name) => TYPES[path.extname(name)] !== undefined && statSync(path.join(folder, name)).isFile(),
  );
  return new Map(
    files.map((name) => {
      const url = `/${name.split(path.sep).join('/')}`;
      return [ADDRESSES[url] ?? url, fileOf(path.join(folder, name), url)];
    }),
  );
}

function fileOf(file: string, url: string): PageFile {
  const plain = readFileSync(file);
  const version = createHash('sha256').update(plain).digest('base64url').slice(0, 16);
  const packed = ENCODINGS.filter(([, ending]) => existsSync(file + ending)).map(
    ([encoding, ending]): Variant => ({
      encoding,
      etag: `"${version}-${encoding}"`,
      body: readFileSync(file + ending),
    }),
  );
  return {
    type: TYPES[path.extname(file)] ?? '',
    cacheControl: url.startsWith(HASHED) ? FOR_EVER : ASK_FIRST,
    variants: [...packed, { encoding: null, etag: `"${version}"`, body: plain }],
  };
}

/** Only for other paths. */
const NOT_SERVED: ReadonlySet<string> = new Set(['/not-found.html']);

/** Serves GET and HEAD of each file; passes every other path on. */
export function servePage(app: Express, files: PageFiles, facts: PolicyFacts): void {
  const policy = policyOf(facts);
  for (const [url, file] of files) {
    if (NOT_SERVED.has(url)) continue;
    app.route(url).get(answer(file, policy)).all(otherMethods('GET, HEAD, OPTIONS'));
  }
}

/** Without a policy of its own a file has the policy of every other answer. */
export function answer(file: PageFile, policy?: string): RequestHandler {
  return (request, response) => {
    const { encoding, etag, body } = variantFor(file, request.headers['accept-encoding']);
    response.setHeader('Cache-Control', file.cacheControl);
    addVary(response, 'Accept-Encoding');
    response.setHeader('ETag', etag);
    if (policy !== undefined) response.setHeader('Content-Security-Policy', policy);
    if (names(request.headers['if-none-match'], etag)) {
      response.statusCode = 304;
      response.end();
      return;
    }
    response.setHeader('Content-Type', file.type);
    if (encoding !== null) response.setHeader('Content-Encoding', encoding);
    response.setHeader('Content-Length', body.length);
    response.end(request.method === 'HEAD' ? undefined : body);
  };
}

/** The smallest encoding that the client accepts. */
function variantFor({ variants }: PageFile, accepted: string | undefined): Variant {
  const taken = acceptedEncodings(accepted);
  const found = variants.find(({ encoding }) => encoding === null || taken.has(encoding));
  return found ?? (variants[variants.length - 1] as Variant);
}
