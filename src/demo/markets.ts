import { createHash } from 'node:crypto';

/** The behaviour of a market's price in the bots' opinion. */
export interface Character {
  /** Probability of Yes to which prices return. */
  readonly fair: number;
  /** Deviation of the prices within a day: standard deviation, in log odds. */
  readonly swing: number;
  /** Distance from the middle to the best quote, in ten-thousandths. */
  readonly halfSpreadPips: number;
  /** Shares of a usual quote. */
  readonly size: number;
}

export interface DemoMarket {
  readonly body: MarketBody;
  readonly character: Character;
}

/** A body of POST /admin/markets. */
interface MarketBody {
  readonly slug: string;
  readonly question: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly tickSize: string;
  readonly minOrderSize: string;
  readonly closesAt: string;
  readonly event?: { readonly slug: string; readonly title: string };
  /** Derived from the slug, so that the ids are the same after every fresh start. */
  readonly questionId: string;
}

const REQUEST_MS_MAX = 10_000;

type Wording = Pick<
  MarketBody,
  'slug' | 'category' | 'tags' | 'question' | 'description' | 'tickSize' | 'event'
>;

/** Six questions that are still open, about the year after `now`. */
export function demoMarkets(now: Date): readonly DemoMarket[] {
  const year = now.getUTCFullYear() + 1;
  const event = { slug: `money-${year}`, title: `Money in ${year}` };
  const inEvent = money(year).map(([wording, character]) => [{ ...wording, event }, character] as const);
  return [...inEvent, ...world(year)].map(([{ slug, description, ...wording }, character]) => ({
    character,
    body: {
      ...wording,
      tags: [...wording.tags, 'demo'],
      slug: `${slug}-${year}`,
      description: `${description} Demo market: test funds, bots, and a price history that is invented up to its opening.`,
      minOrderSize: '1',
      closesAt: `${year}-12-31T23:59:59.000Z`,
      questionId: `0x${createHash('sha256').update(`demo ${slug}-${year}`).digest('hex')}`,
    },
  }));
}

const money = (year: number): readonly (readonly [Wording, Character])[] => [
  [
    {
      slug: 'bitcoin-above-200k',
      category: 'crypto',
      tags: ['btc', 'price'],
      question: `Will Bitcoin trade above $200,000 in ${year}?`,
      description: `Yes if any one-minute candle of BTC/USDT in ${year} has a high above 200,000.`,
      tickSize: '0.01',
    },
    { fair: 0.34, swing: 0.2, halfSpreadPips: 60, size: 120 },
  ],
  [
    {
      slug: 'ether-new-high',
      category: 'crypto',
      tags: ['eth', 'price'],
      question: `Will Ether set a new all-time high in ${year}?`,
      description: `Yes if ETH/USDT trades above its highest price of all years before ${year}.`,
      tickSize: '0.001',
    },
    { fair: 0.58, swing: 0.2, halfSpreadPips: 30, size: 80 },
  ],
  [
    {
      slug: 'fed-cuts-twice',
      category: 'economy',
      tags: ['fed', 'rates'],
      question: `Will the Fed cut rates at least twice in ${year}?`,
      description: `Yes if the target range is lowered at two or more meetings held in ${year}.`,
      tickSize: '0.01',
    },
    { fair: 0.66, swing: 0.16, halfSpreadPips: 60, size: 150 },
  ],
];

const world = (year: number): readonly (readonly [Wording, Character])[] => [
  [
    {
      slug: 'warmest-year',
      category: 'science',
      tags: ['climate'],
      question: `Will ${year} be the warmest year on record?`,
      description: `Yes if the Copernicus annual summary ranks ${year} first.`,
      tickSize: '0.01',
    },
    { fair: 0.45, swing: 0.15, halfSpreadPips: 60, size: 100 },
  ],
  [
    {
      slug: 'crewed-moon-landing',
      category: 'science',
      tags: ['space', 'moon'],
      question: `Will people land on the Moon in ${year}?`,
      description: 'Yes if a crewed spacecraft lands on the Moon before the year ends, UTC.',
      tickSize: '0.001',
    },
    { fair: 0.11, swing: 0.18, halfSpreadPips: 20, size: 150 },
  ],
  [
    {
      slug: 'marathon-under-two-hours',
      category: 'sports',
      tags: ['running'],
      question: `Will an official marathon be run under two hours in ${year}?`,
      description: `Yes if World Athletics ratifies or lists as pending a time below 2:00:00 set in ${year}.`,
      tickSize: '0.0001',
    },
    { fair: 0.23, swing: 0.16, halfSpreadPips: 12, size: 60 },
  ],
];

const OPEN_POLL_MS = 250;
/** 30 s. */
const OPEN_POLLS_MAX = 120;

/** With funds on a chain a market opens some blocks after its creation, else at once. False when it does not. */
export async function untilOpen(baseUrl: string, slug: string): Promise<boolean> {
  for (let poll = 0; poll < OPEN_POLLS_MAX; poll++) {
    const answer = await fetch(`${baseUrl}/markets/${slug}`, { signal: AbortSignal.timeout(REQUEST_MS_MAX) });
    const { status } = (await answer.json()) as { readonly status?: unknown };
    if (status !== 'DRAFT') return status === 'OPEN';
    await new Promise((resolve) => setTimeout(resolve, OPEN_POLL_MS));
  }
  return false;
}

/** Creates the missing markets; rejects with the first refusal. */
export async function openDemoMarkets(
  baseUrl: string,
  adminToken: string,
  markets: readonly DemoMarket[],
): Promise<void> {
  for (const { body: market } of markets) {
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
  for (const { body: market } of markets) await untilOpen(baseUrl, market.slug);
}
