import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { ROOT } from '../support/processes';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';

const FOLDER = path.join(ROOT, 'dist/page');
/** The files that a first view loads, as gzip sends them: the page, its style and the chart, but no other wallet and no other view. */
const FIRST_BYTES_MAX = 140_000;
const LATER = /wallet-test|\/page-[A-Z0-9]{8}\.js|event-page|not-found|operate/;

let exchange: WebReplicas;
beforeAll(async () => {
  exchange = await startWebReplicas();
});
afterAll(() => exchange.stop());

interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Unlike fetch, it unpacks nothing. */
function ask(target: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> {
  const { port } = exchange.replicas[0];
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path: target, method, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}

const html = readFileSync(path.join(FOLDER, 'index.html'), 'utf8');
const assets = [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map((match) => match[1] ?? '');

test('the page is small, and its other views are files of their own', () => {
  const sizes = (readdirSync(FOLDER, { recursive: true }) as string[])
    .filter((name) => /\.(html|js|css|svg)$/.test(name))
    .map((name) => {
      const file = path.join(FOLDER, name);
      return { name: `/${name}`, bytes: readFileSync(existsSync(`${file}.gz`) ? `${file}.gz` : file).length };
    });
  const first = sizes.filter(({ name }) => !LATER.test(name));
  expect(sizes.length - first.length).toBeGreaterThanOrEqual(4);
  expect(first.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(FIRST_BYTES_MAX);
});

test('the page is revalidated each time, and its policy allows only its own resources', async () => {
  const { status, headers, body } = await ask('/');
  expect([status, body.toString()]).toEqual([200, html]);
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    vary: 'Accept-Encoding',
    'x-content-type-options': 'nosniff',
  });
  const policy = String(headers['content-security-policy']).split('; ');
  expect(policy).toEqual(
    expect.arrayContaining(["default-src 'none'", "script-src 'self'", "style-src 'self'"]),
  );
  expect(policy.join()).not.toContain('unsafe');
  expect(html).not.toMatch(/<script>|<style|style=|https?:\/\//);
  // A link that names a market is the same page.
  expect((await ask('/?market=anything')).body.toString()).toBe(html);
});

test('assets may be cached without end, because their names change with their content', async () => {
  expect(assets.length).toBeGreaterThan(3);
  for (const asset of assets) {
    expect(asset).toMatch(/-[A-Za-z0-9]{8}\.(js|css|svg)$/);
    const { status, headers } = await ask(asset);
    expect([asset, status]).toEqual([asset, 200]);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
  }
});

test('the page is sent in an encoding that the client accepts', async () => {
  const main = assets.find((asset) => asset.includes('main-')) ?? '';
  const plain = readFileSync(path.join(FOLDER, main));
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync };
  const tags = new Set<unknown>();
  for (const [accepted, encoding] of [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, GZIP;q=0.5', 'gzip'],
  ] as const) {
    const { headers, body } = await ask(main, { 'accept-encoding': accepted });
    expect([accepted, headers['content-encoding']]).toEqual([accepted, encoding]);
    expect(unpack[encoding](body).equals(plain)).toBe(true);
    tags.add(headers.etag);
  }
  for (const accepted of ['', 'identity', 'gzip;q=0']) {
    const { headers, body } = await ask(main, { 'accept-encoding': accepted });
    expect(headers['content-encoding']).toBeUndefined();
    expect(body.equals(plain)).toBe(true);
    tags.add(headers.etag);
  }
  expect(tags.size).toBe(3);
});

test('HEAD, a valid copy, other methods and unknown paths are answered correctly', async () => {
  const whole = await ask('/');
  const head = await ask('/', {}, 'HEAD');
  expect([head.status, head.body.length]).toEqual([200, 0]);
  expect(head.headers['content-length']).toBe(whole.headers['content-length']);
  const again = await ask('/', { 'if-none-match': String(whole.headers.etag) });
  expect([again.status, again.body.length]).toEqual([304, 0]);
  expect((await ask('/', { 'if-none-match': '"another"' })).status).toBe(200);
  const post = await ask('/', {}, 'POST');
  expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
  for (const target of ['/assets/none.js', '/index.html', '/assets/', '/assets/..%2findex.html']) {
    const { status, headers, body } = await ask(target);
    expect([target, status, headers['content-type']]).toEqual([target, 404, 'application/problem+json']);
    expect(JSON.parse(body.toString()).code).toBe('NOT_FOUND');
  }
});

test('shared links have their own titles, and programs get a problem for dead ones', async () => {
  const { body } = await exchange.client.get('/markets?limit=1');
  const [market] = body.data;
  const asPerson = { accept: 'text/html,application/xhtml+xml' };
  if (market) {
    const shared = (await ask(`/m/${market.slug}`, asPerson)).body.toString();
    expect(shared).toContain(`<meta property="og:url"`);
  }
  const missing = await ask('/m/no-such-market', asPerson);
  expect([missing.status, missing.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
  const nothing = await ask('/no-such-thing', asPerson);
  expect([nothing.status, nothing.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
  expect(nothing.body.toString()).toContain('There is nothing at this address');
  expect((await ask('/no-such-thing')).headers['content-type']).toBe('application/problem+json');
  expect((await ask('/portfolio', asPerson)).body.toString()).toBe(html);
  expect((await ask('/robots.txt')).body.toString()).toMatch(/^Sitemap: https?:\/\/.*\/sitemap\.xml$/m);
  expect((await ask('/sitemap.xml')).body.toString()).toContain('<urlset');
  expect((await ask('/favicon.ico')).headers['content-type']).toBe('image/svg+xml');
  const manifest = JSON.parse((await ask('/manifest.webmanifest')).body.toString());
  expect((await ask(manifest.icons[0].src)).status).toBe(200);
});

test('with SERVE_UI=0 none of the page is served', async () => {
  const bare = await startWebReplicas({ env: { SERVE_UI: '0' } });
  try {
    for (const target of ['/', assets[0] ?? '']) {
      const { status, body } = await bare.client.get(target);
      expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
    }
  } finally {
    await bare.stop();
  }
});
