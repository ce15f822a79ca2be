import type { Express, RequestHandler, Response } from 'express';
import type { Store } from '../../app/store';
import type { MarketView } from '../../exchange/facts';
import { MICRO_PER_ONE } from '../../exchange/units';
import { clientAddress } from '../../http/guard/client-address';
import type { Limiter } from '../../http/guard/limiter';
import { isListed } from '../../http/markets/market-pages';
import { answer, type StaticFiles } from '../../http/server/static-files';
import { presentMarket } from '../../wire/answers/market';
import { formatChance } from '../../wire/prices';
import { CARD_HEIGHT, CARD_WIDTH } from './card-drawing';
import { type PolicyFacts, policyOf } from './page';
import { eventWords, marketWords, resultWord, type Words } from './page-words';
import { PAGE_COSTS } from './wire/costs';

/** The addresses of the page with their own titles for people who share them, and the files that crawlers request. */

/** Views of the page without a title of their own. */
const VIEWS = ['/portfolio', '/explore', '/leaders'];
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const SITE = 'Exchange';
/** The limit of a sitemap. */
const SITEMAP_MAX = 5_000;
/** Data a minute old is fresh enough for a crawler. */
const CACHED_MS = 60_000;
const CACHED = `public, max-age=${CACHED_MS / 1_000}`;

/** The trading page, and what its links need. */
export interface SiteParts extends Pick<Store, 'config' | 'marketList'> {
  /** Empty when the page has not been built. */
  readonly page: StaticFiles;
  /** Links have a picture. */
  readonly hasCards: boolean;
}

export function servePageLinks(
  app: Express,
  { page: files, marketList, config, hasCards }: SiteParts,
  limiter: Limiter,
): void {
  const page = files.get('/');
  if (page === undefined) return;
  const { publicBaseUrl } = config;
  const html = page.variants.at(-1)?.body.toString() ?? '';
  const send = createSender(html, config, hasCards);
  const listed = async (): Promise<readonly MarketView[]> => (await marketList()).filter(isListed);
  /** The page itself does not wait for Redis; it shows the problem. */
  const words =
    (find: (markets: readonly MarketView[], slug: string) => Words | null, cost: number): RequestHandler =>
    async (request, response) => {
      await limiter.take('reads', clientAddress(request), response, cost);
      const markets = await marketList().catch(() => null);
      send(response, markets === null ? undefined : find(markets, String(request.params.slug)));
    };
  app.get('/m/:slug', words(marketWords, PAGE_COSTS['/m/{slug}']));
  app.get('/e/:slug', words(eventWords, PAGE_COSTS['/e/{slug}']));
  const view = answer(page, policyOf(config));
  for (const path of VIEWS) app.get(path, view);
  // Every address has a profile.
  app.get('/u/:address', (request, response, next) =>
    ADDRESS.test(request.params.address) ? view(request, response, next) : next(),
  );
  const icon = [...files].find(([url]) => url.startsWith('/assets/icon-'));
  if (icon) {
    app.get('/favicon.ico', answer({ ...icon[1], cacheControl: CACHED }));
    app.get(
      '/manifest.webmanifest',
      text('application/manifest+json', () => manifestOf(icon[0])),
    );
  }
  app.get(
    '/robots.txt',
    text('text/plain', () => `User-agent: *\nDisallow: /admin\nSitemap: ${publicBaseUrl}/sitemap.xml\n`),
  );
  let sitemap = { bytes: Buffer.alloc(0), untilMs: 0 };
  app.get('/sitemap.xml', async (request, response, next) => {
    if (performance.now() > sitemap.untilMs) {
      const markets = (await listed()).slice(0, SITEMAP_MAX);
      const bytes = Buffer.from(sitemapOf(publicBaseUrl, markets));
      sitemap = { bytes, untilMs: performance.now() + CACHED_MS };
    }
    text('application/xml', () => sitemap.bytes)(request, response, next);
  });
}

const text =
  (type: string, body: () => string | Buffer): RequestHandler =>
  (_request, response) => {
    const content = body();
    response.setHeader('Cache-Control', CACHED);
    response.setHeader('Content-Type', `${type}; charset=utf-8`);
    response.setHeader('Content-Length', Buffer.byteLength(content));
    response.end(content);
  };

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (plain: string): string => plain.replace(/[&<>"]/g, (sign) => ESCAPES[sign] ?? sign);

/** The page with its title, description and card filled in; null without such a market, undefined when that is unknown. */
function createSender(html: string, config: PolicyFacts, hasCards: boolean) {
  const policy = policyOf(config);
  return (response: Response, found: Words | null | undefined): void => {
    response.statusCode = found === null ? 404 : 200;
    response.setHeader('Content-Security-Policy', policy);
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader('Cache-Control', 'no-cache');
    response.end(found ? filledIn(html, found, config.publicBaseUrl, hasCards) : html);
  };
}

function filledIn(html: string, found: Words, publicBaseUrl: string, hasCards: boolean): string {
  const { title, description, path, cardPath } = found;
  const url = publicBaseUrl + path;
  const picture = hasCards
    ? [
        ['og:image', publicBaseUrl + cardPath],
        ['og:image:type', 'image/png'],
        ['og:image:width', String(CARD_WIDTH)],
        ['og:image:height', String(CARD_HEIGHT)],
        ['og:image:alt', description],
        ['twitter:card', 'summary_large_image'],
      ]
    : [['twitter:card', 'summary']];
  const card = [
    ['og:type', 'website'],
    ['og:site_name', SITE],
    ['og:title', title],
    ['og:description', description],
    ['og:url', url],
    ...picture,
  ].map(([property, content = '']) => `<meta property="${property}" content="${escaped(content)}" />`);
  const head = [
    `<title>${escaped(`${title} · ${SITE}`)}</title>`,
    `<meta name="description" content="${escaped(description)}" />`,
    `<link rel="canonical" href="${escaped(url)}" />`,
    ...card,
  ].join('\n    ');
  const { market } = found;
  return (market ? html.replace(SLOT, () => contentOf(market)) : html)
    .replace(/<meta name="description"[^>]*>\s*/, () => '')
    .replace(/<title>[^<]*<\/title>/, () => head);
}

/** Where the page has room for a market. */
const SLOT = '<!-- market -->';
const WHOLE = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 0,
});
const DEADLINE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });

/**
 * Question, chance and facts of a market, which are read before the scripts have come, and the market for them, so that the page
 * begins with the same content without asking for it. A browser runs no script of this type, so the policy has no exception.
 */
function contentOf(view: MarketView): string {
  const { terms, texts, state } = view;
  const chance = formatChance(state, terms.tickPips);
  const facts = [
    `<span class="tag">${escaped(texts.category)}</span>`,
    `<span>${WHOLE.format(state.volumeMicro / MICRO_PER_ONE)} volume</span>`,
    ...(texts.closesAtMs === null ? [] : [`<span>Closes ${DEADLINE.format(texts.closesAtMs)}</span>`]),
  ];
  const standing = resultWord(view);
  const [first] = terms.outcomeNames;
  const line =
    standing === null
      ? `<strong>${chance ?? '–'}</strong> chance${first === 'Yes' ? '' : ` of ${escaped(first)}`}`
      : `<strong>${escaped(standing)}</strong>`;
  // `<` could end the script.
  const json = JSON.stringify(presentMarket(view)).replace(/</g, '\\u003c');
  return `<div class="layout layout-market">
        <div class="markets"></div>
        <main class="main">
          <section class="head">
            <p class="head-facts">${facts.join('')}</p>
            <h1 class="head-question" dir="auto">${escaped(texts.question)}</h1>
            <p class="head-chance${standing === null ? '' : ' head-over'}">${line}</p>
          </section>
          <section class="card chart chart-waiting"></section>
        </main>
      </div>
      <script type="application/json" id="market">${json}</script>`;
}

/** Makes the page installable. It needs a connection, because trading does. */
const manifestOf = (iconUrl: string): string =>
  JSON.stringify({
    name: SITE,
    short_name: SITE,
    start_url: '/',
    display: 'standalone',
    background_color: '#f4f6f9',
    theme_color: '#3457d5',
    icons: [{ src: iconUrl, sizes: 'any', type: 'image/svg+xml', purpose: 'any' }],
  });

function sitemapOf(publicBaseUrl: string, markets: readonly MarketView[]): string {
  const paths = ['/', ...markets.map(({ terms }) => `/m/${terms.slug}`)];
  const events = new Set(markets.flatMap(({ terms }) => (terms.event ? [`/e/${terms.event.slug}`] : [])));
  const urls = [...paths, ...events].map((path) => `<url><loc>${escaped(publicBaseUrl + path)}</loc></url>`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join('')}</urlset>\n`;
}

/** A person who follows a dead link gets a page that says so; a program gets the problem document. */
export function pageNotFound({ page: files, config }: SiteParts): RequestHandler {
  const html = files.get('/not-found.html')?.variants.at(-1)?.body;
  const policy = policyOf(config);
  return (request, response, next) => {
    const wantsPage = request.headers.accept?.split(',')[0]?.trim() === 'text/html';
    if (html === undefined || request.method !== 'GET' || !wantsPage) return next();
    response.statusCode = 404;
    response.setHeader('Content-Security-Policy', policy);
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end(html);
  };
}
