import { createHash } from 'node:crypto';

/** A body of POST /admin/markets. */
export interface DemoMarket {
  readonly slug: string;
  readonly question: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly tickSize: string;
  readonly minOrderSize: string;
  readonly closesAt: string;
  /** From the slug, so that the ids are the same on every fresh start. */
  readonly questionId: string;
}

const REQUEST_MS_MAX = 10_000;

/** Six questions that are still open, about the year after `now`. */
export function demoMarkets(now: Date): readonly DemoMarket[] {
  const year = now.getUTCFullYear() + 1;
  const endOfYear = `${year}-12-31T23:59:59.000Z`;
  const market = (
    slug: string,
    category: string,
    tags: readonly string[],
    question: string,
    description: string,
    tickSize = '0.01',
  ): DemoMarket => ({
    slug: `${slug}-${year}`,
    question,
    description: `${description} Demo market: paper funds only.`,
    category,
    tags,
    tickSize,
    minOrderSize: '1',
    closesAt: endOfYear,
    questionId: `0x${createHash('sha256').update(`demo ${slug}-${year}`).digest('hex')}`,
  });
  return [
    market(
      'bitcoin-above-200k',
      'crypto',
      ['btc', 'price'],
      `Will Bitcoin trade above $200,000 in ${year}?`,
      `Yes if any one-minute candle of BTC/USDT in ${year} has a high above 200,000.`,
    ),
    market(
      'ether-new-high',
      'crypto',
      ['eth', 'price'],
      `Will Ether set a new all-time high in ${year}?`,
      `Yes if ETH/USDT trades above its highest price of all years before ${year}.`,
      '0.001',
    ),
    market(
      'fed-cuts-twice',
      'economy',
      ['fed', 'rates'],
      `Will the Fed cut rates at least twice in ${year}?`,
      `Yes if the target range is lowered at two or more meetings held in ${year}.`,
    ),
    market(
      'warmest-year',
      'science',
      ['climate'],
      `Will ${year} be the warmest year on record?`,
      `Yes if the Copernicus annual summary ranks ${year} first.`,
    ),
    market(
      'crewed-moon-landing',
      'science',
      ['space', 'moon'],
      `Will people land on the Moon in ${year}?`,
      `Yes if a crewed spacecraft lands on the Moon before the year ends, UTC.`,
      '0.001',
    ),
    market(
      'marathon-under-two-hours',
      'sports',
      ['running'],
      `Will an official marathon be run under two hours in ${year}?`,
      `Yes if World Athletics ratifies or lists as pending a time below 2:00:00 set in ${year}.`,
      '0.0001',
    ),
  ];
}

/** Creates those the exchange does not have yet; rejects with the answer of the first that is refused. */
export async function openDemoMarkets(
  baseUrl: string,
  adminToken: string,
  markets: readonly DemoMarket[],
): Promise<void> {
  for (const market of markets) {
    const known = await fetch(`${baseUrl}/markets/${market.slug}`, {
      signal: AbortSignal.timeout(REQUEST_MS_MAX),
    });
    await known.arrayBuffer();
    if (known.ok) continue;
    const answer = await fetch(`${baseUrl}/admin/markets`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${adminToken}` },
      body: JSON.stringify(market),
      signal: AbortSignal.timeout(REQUEST_MS_MAX),
    });
    const text = await answer.text();
    if (answer.status !== 201)
      throw new Error(`demo market ${market.slug}: ${answer.status} ${text.slice(0, 300)}`);
  }
}
