import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { ROOT } from '../../support/processes';
import { ADMIN_TOKEN } from '../../support/settings';
import { openMarket } from '../../support/trader';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

const FOLDER = path.join(ROOT, 'dist/page');
/** The scripts that a view of a market loads without a click, as gzip sends them. */
const SCRIPT_BYTES_MAX = 140_000;

let exchange: WebReplicas;
beforeAll(async () => {
  exchange = await startWebReplicas({ env: { RATE_LIMIT: 'on' } });
});
afterAll(() => exchange.stop());

interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Unlike fetch, it does not decompress. */
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

/** A file and those that it cannot run without. */
function withImports(name: string): string[] {
  const found = new Set<string>();
  const add = (one: string): void => {
    if (found.has(one)) return;
    found.add(one);
    if (!one.endsWith('.js')) return;
    const source = readFileSync(path.join(FOLDER, one), 'utf8');
    for (const [, target] of source.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) add(`/assets/${target}`);
  };
  add(name);
  return [...found];
}

test('the page is small, and its other views are files of their own', () => {
  const all = (readdirSync(FOLDER, { recursive: true }) as string[])
    .filter((name) => /\.(html|js|css|svg|woff2)$/.test(name))
    .map((name) => `/${name}`);
  const asked = all.filter((name) => /^\/assets\/(chart-canvas|later)-.*\.js$/.test(name));
  const first = new Set(['/index.html', ...[...assets, ...asked].flatMap(withImports)]);
  expect([...first].filter((name) => !all.includes(name))).toEqual([]);
  for (const part of ['chart-canvas', 'later', 'inter-', 'main-', 'page-'])
    expect([...first].some((name) => name.includes(part))).toBe(true);
  const later = all.filter((name) => !first.has(name));
  for (const part of ['operate', 'wallet-test', 'event-page', 'full-chart', 'chart-full'])
    expect(later.some((name) => name.includes(part))).toBe(true);
  const scripts = [...first].filter((name) => name.endsWith('.js'));
  const sizes = scripts.map((name) => {
    const file = path.join(FOLDER, name);
    return readFileSync(existsSync(`${file}.gz`) ? `${file}.gz` : file).length;
  });
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(SCRIPT_BYTES_MAX);
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
    expect.arrayContaining([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "font-src 'self'",
    ]),
  );
  expect(policy.join()).not.toContain('unsafe');
  expect(html).not.toMatch(/<script>|<style|style=|https?:\/\//);
  // A link that names a market is the same page.
  expect((await ask('/?market=anything')).body.toString()).toBe(html);
});

test('assets may be cached without end, because their names change with their content', async () => {
  expect(assets.length).toBeGreaterThan(3);
  for (const asset of assets) {
    expect(asset).toMatch(/-[A-Za-z0-9]{8}\.(js|css|svg|woff2)$/);
    const { status, headers } = await ask(asset);
    expect([asset, status]).toEqual([asset, 200]);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
  }
});

test('the page is sent in an encoding that the client accepts', async () => {
  const script = assets.find((asset) => asset.includes('chunk-')) ?? '';
  const plain = readFileSync(path.join(FOLDER, script));
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync };
  const tags = new Set<unknown>();
  for (const [accepted, encoding] of [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, GZIP;q=0.5', 'gzip'],
  ] as const) {
    const { headers, body } = await ask(script, { 'accept-encoding': accepted });
    expect([accepted, headers['content-encoding']]).toEqual([accepted, encoding]);
    expect(unpack[encoding](body).equals(plain)).toBe(true);
    tags.add(headers.etag);
  }
  for (const accepted of ['', 'identity', 'gzip;q=0']) {
    const { headers, body } = await ask(script, { 'accept-encoding': accepted });
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
  for (const view of ['/portfolio', '/explore'])
    expect((await ask(view, asPerson)).body.toString()).toBe(html);
  expect((await ask(`/u/0x${'1'.repeat(40)}`, asPerson)).body.toString()).toBe(html);
  expect((await ask('/u/nobody', asPerson)).status).toBe(404);
  expect((await ask('/robots.txt')).body.toString()).toMatch(/^Sitemap: https?:\/\/.*\/sitemap\.xml$/m);
  expect((await ask('/sitemap.xml')).body.toString()).toContain('<urlset');
  expect((await ask('/favicon.ico')).headers['content-type']).toBe('image/svg+xml');
  const manifest = JSON.parse((await ask('/manifest.webmanifest')).body.toString());
  expect((await ask(manifest.icons[0].src)).status).toBe(200);
});

test('a market’s page has its question, chance and facts before any script has come, and no text of it is markup', async () => {
  const { client } = exchange;
  const question = 'Does </script><b>rain</b> & wind win?';
  const market = await openMarket(client, ADMIN_TOKEN, { question });
  const page = (await ask(`/m/${market.slug}`, { accept: 'text/html' })).body.toString();
  expect(page).toContain('dir="auto">Does &lt;/script&gt;&lt;b&gt;rain&lt;/b&gt; &amp; wind win?</h1>');
  expect(page).toContain('<p class="head-chance"><strong>–</strong> chance</p>');
  expect(page).toContain('<span>$0 volume</span>');
  expect(page).not.toContain('<b>');
  const [, json = ''] = /<script type="application\/json" id="market">(.*?)<\/script>/.exec(page) ?? [];
  expect(JSON.parse(json)).toMatchObject({ id: market.id, question });
  expect((await ask('/m/no-such-market', { accept: 'text/html' })).body.toString()).not.toContain('<h1');
});

test('the sitemap is made once a minute, however often it is requested, and states its length', async () => {
  const first = await ask('/sitemap.xml');
  expect(first.headers['content-length']).toBe(String(first.body.length));
  const { client } = exchange.replicas[0];
  const market = await openMarket(client, ADMIN_TOKEN);
  expect((await client.get(`/markets/${market.id}`)).status).toBe(200);
  expect((await ask('/sitemap.xml')).body.equals(first.body)).toBe(true);
});

test('a shared market has a picture: drawn once while the market does not change, and paid for by its address', async () => {
  // Without it there is no picture: run npm ci.
  expect(require.resolve('@resvg/resvg-js')).toMatch(/resvg/);
  const { client } = exchange;
  const market = await openMarket(client, ADMIN_TOKEN, { question: 'Will it rain in Lisbon <tomorrow>?' });
  const page = (await ask(`/m/${market.slug}`, { accept: 'text/html' })).body.toString();
  const card = `/m/${market.slug}/card.png`;
  expect(page).toMatch(new RegExp(`<meta property="og:image" content="https?://[^"/]+${card}" />`));
  expect(page).toContain('<meta property="twitter:card" content="summary_large_image" />');
  const drawn = await ask(card);
  expect([drawn.status, drawn.headers['content-type']]).toEqual([200, 'image/png']);
  expect(drawn.body.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
  expect([drawn.body.readUInt32BE(16), drawn.body.readUInt32BE(20)]).toEqual([1_200, 630]);
  // A picture of one colour would be smaller.
  expect(drawn.body.length).toBeGreaterThan(8_000);
  // Pages of other sites show it.
  expect(drawn.headers['cross-origin-resource-policy']).toBe('cross-origin');
  const again = await ask(card);
  expect([again.headers.etag, again.body.equals(drawn.body)]).toEqual([drawn.headers.etag, true]);
  expect((await ask(card, { 'if-none-match': String(drawn.headers.etag) })).status).toBe(304);
  expect((await ask('/m/no-such-market/card.png')).status).toBe(404);
  const crowd = await Promise.all(Array.from({ length: 80 }, () => ask(card)));
  const refused = crowd.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(JSON.parse(refused[0]?.body.toString() ?? '{}').code).toBe('RATE_LIMITED');
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
