import type { Express } from 'express';
import type { Store } from '../../app/store';
import { Refusal } from '../../exchange/errors';
import type { MarketView } from '../../exchange/facts';
import { createRecent } from '../../exchange/recent';
import { clientAddress } from '../../http/guard/client-address';
import type { Limiter } from '../../http/guard/limiter';
import { matchesEtag } from '../../http/server/etag';
import { historyWindow } from '../../wire/answers/history';
import { formatChance } from '../../wire/prices';
import type { CardFacts, DrawCard } from './card-drawing';
import { marketNamed, resultWord } from './page-words';
import { PAGE_COSTS } from './wire/costs';

/** Cards kept; each is some 40 kB. */
const CARDS_MAX = 100;
/** Markets whose cards wait to be drawn; they are drawn one after the other. */
const WAITING_MAX = 20;
/** A card of a busy market is this old at most, that of a market at rest an hour. */
const BUSY_MS = 60_000;
const REST_MS = 3_600_000;
const DAY_MS = 86_400_000;
const CACHED = 'public, max-age=60';

interface Card {
  /** The state of the market that it shows. */
  readonly state: string;
  readonly drawnAt: number;
  readonly png: Buffer;
  readonly etag: string;
}

interface CardParts extends Pick<Store, 'marketList' | 'reads'> {
  readonly drawCard: DrawCard;
}

/** `/m/<slug>/card.png`: the picture of a market for those who share its link. */
export function serveCards(app: Express, { marketList, reads, drawCard }: CardParts, limiter: Limiter): void {
  const kept = createRecent<Card>(CARDS_MAX);
  const drawing = new Map<string, Promise<Card>>();
  let line: Promise<unknown> = Promise.resolve();

  async function factsOf(market: MarketView): Promise<CardFacts> {
    const nowMs = Math.trunc(reads.clock());
    const { terms, texts, state } = market;
    const isYoung = nowMs - terms.createdAtMs < DAY_MS;
    const { fromMs, bucketMs } = historyWindow(isYoung ? '1d' : '1w', nowMs);
    const candles = await reads.candles(terms.id, Math.max(fromMs, 0), bucketMs);
    const result = resultWord(market);
    const [first] = terms.outcomeNames;
    return {
      question: texts.question,
      standing: result ?? formatChance(state, terms.tickPips) ?? 'New',
      meaning: result !== null ? '' : first === 'Yes' ? 'chance' : `chance of ${first}`,
      candles: candles.filter(({ startMs }) => startMs >= fromMs),
      nowMs,
    };
  }

  /** One at a time, however many links a crowd shares. */
  function draw(market: MarketView, state: string): Promise<Card> {
    if (drawing.size >= WAITING_MAX) {
      throw new Refusal('UNAVAILABLE', 'many cards are being drawn; ask again in a second');
    }
    const { id } = market.terms;
    const work = line.then(async (): Promise<Card> => {
      const png = await drawCard(await factsOf(market));
      const drawnAt = performance.now();
      const card = { state, drawnAt, png, etag: `"${id}-${Math.trunc(reads.clock())}"` };
      kept.put(id, card);
      return card;
    });
    line = work.catch(() => undefined).finally(() => drawing.delete(id));
    drawing.set(id, work);
    return work;
  }

  async function cardOf(market: MarketView): Promise<Card> {
    const { terms, texts, state } = market;
    const now = JSON.stringify([state.sequence, state.status, texts.question]);
    const known = kept.get(terms.id);
    const ageMs = known ? performance.now() - known.drawnAt : Number.POSITIVE_INFINITY;
    if (known && ageMs < (known.state === now ? REST_MS : BUSY_MS)) return known;
    return drawing.get(terms.id) ?? draw(market, now);
  }

  app.get('/m/:slug/card.png', async (request, response) => {
    await limiter.take('reads', clientAddress(request), response, PAGE_COSTS['/m/{slug}/card.png']);
    const market = marketNamed(await marketList(), String(request.params.slug));
    if (!market) throw new Refusal('NOT_FOUND', 'no market has this slug; GET /markets lists them');
    const { png, etag } = await cardOf(market);
    response.setHeader('Cache-Control', CACHED);
    // Pages of other sites show it.
    response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    response.setHeader('ETag', etag);
    if (matchesEtag(request.headers['if-none-match'], etag)) {
      response.statusCode = 304;
      response.end();
      return;
    }
    response.setHeader('Content-Type', 'image/png');
    response.setHeader('Content-Length', png.length);
    response.end(request.method === 'HEAD' ? undefined : png);
  });
}
