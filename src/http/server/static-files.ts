import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { RequestHandler } from 'express';
import { acceptedEncodings, addVary } from './answer';
import { matchesEtag } from './etag';

/** A file in memory: the whole trading page is smaller than the book of a busy market. */
export interface StaticFile {
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
export type StaticFiles = ReadonlyMap<string, StaticFile>;

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
/** Names in this folder contain a hash of the content. */
const HASHED = '/assets/';
const FOR_EVER = 'public, max-age=31536000, immutable';
/** A copy may be kept, but must be revalidated each time. */
const ASK_FIRST = 'no-cache';

const filesByPath = new Map<string, StaticFile>();

/**
 * Returns the files that `npm run build` made, by their paths; empty when they have not been built. `addresses` has other paths
 * for documents that people open; that of `/index.html` is `/`. A process reads each file once.
 */
export function loadFiles(folder: string, addresses: Readonly<Record<string, string>> = {}): StaticFiles {
  if (!existsSync(folder)) return new Map();
  const pathOf = (url: string): string => (url === '/index.html' ? '/' : (addresses[url] ?? url));
  const files = (readdirSync(folder, { recursive: true }) as string[]).filter(
    (name) => TYPES[path.extname(name)] !== undefined && statSync(path.join(folder, name)).isFile(),
  );
  return new Map(
    files.map((name) => {
      const url = `/${name.split(path.sep).join('/')}`;
      return [pathOf(url), fileOf(path.join(folder, name), url)];
    }),
  );
}

function fileOf(file: string, url: string): StaticFile {
  const known = filesByPath.get(file) ?? readStaticFile(file, url);
  filesByPath.set(file, known);
  return known;
}

function readStaticFile(file: string, url: string): StaticFile {
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

/** Without a policy of its own a file has the policy of every other answer. */
export function answer(file: StaticFile, policy?: string): RequestHandler {
  return (request, response) => {
    const { encoding, etag, body } = variantFor(file, request.headers['accept-encoding']);
    response.setHeader('Cache-Control', file.cacheControl);
    addVary(response, 'Accept-Encoding');
    response.setHeader('ETag', etag);
    if (policy !== undefined) response.setHeader('Content-Security-Policy', policy);
    if (matchesEtag(request.headers['if-none-match'], etag)) {
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
function variantFor({ variants }: StaticFile, accepted: string | undefined): Variant {
  const taken = acceptedEncodings(accepted);
  const found = variants.find(({ encoding }) => encoding === null || taken.has(encoding));
  return found ?? (variants[variants.length - 1] as Variant);
}
