import { createHash } from 'node:crypto';
import { type DemoMarket, untilOpen } from './markets';

/** Markets in each state: one pays within ten minutes, one has paid, and one is paused. */
const MINUTE_MS = 60_000;
const CLOSES_MS = 8 * MINUTE_MS;
const PAYS_MS = 9 * MINUTE_MS;
const REQUEST_MS_MAX = 10_000;
/** The tag by which the bots distinguish the coin of this start from earlier ones. */
export const COIN_TAG = 'coin';

const PLAIN = { minOrderSize: '1', tickSize: '0.01' } as const;
const idOf = (slug: string): string => `0x${createHash('sha256').update(`demo ${slug}`).digest('hex')}`;

/** The bots' opinion of a coin: even odds. */
export const COIN_CHARACTER: DemoMarket['character'] = {
  fair: 0.5,
  swing: 0.3,
  halfSpreadPips: 80,
  size: 60,
};

/** Every start tosses a new coin, so its market has its own name. */
function coinAt(now: Date) {
  const slug = `coin-${now.toISOString().slice(0, 16).replace(/\D/g, '')}`;
  return {
    ...PLAIN,
    slug,
    question: 'Does the coin of this demo show heads?',
    description:
      'The demo throws a coin when this market has closed, a few minutes after the start, and pays at once.\n\nDemo market: test funds and bots.',
    category: 'games',
    tags: ['demo', COIN_TAG],
    outcomes: ['Heads', 'Tails'],
    closesAt: new Date(now.getTime() + CLOSES_MS).toISOString(),
    questionId: idOf(slug),
  };
}

const PAID = {
  ...PLAIN,
  slug: 'demo-two-and-two',
  question: 'Do two and two make four?',
  description: 'Yes if they do. Demo market: it was resolved at the start.',
  category: 'science',
  tags: ['demo'],
  questionId: idOf('demo-two-and-two'),
};

const PAUSED = {
  ...PLAIN,
  slug: 'demo-rain-at-noon',
  question: 'Will it rain on the demo at noon?',
  description: 'Nobody has looked yet. Demo market: it is paused, so orders can only be cancelled.',
  category: 'weather',
  tags: ['demo'],
  questionId: idOf('demo-rain-at-noon'),
};

async function send(url: string, adminToken: string, body?: object): Promise<boolean> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${adminToken}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(REQUEST_MS_MAX),
  });
  await answer.arrayBuffer();
  return answer.ok;
}

/** Continues a story that began before: a refusal means that this step was already done. */
export async function openStory(baseUrl: string, adminToken: string, now: Date): Promise<void> {
  const admin = (path: string, body?: object): Promise<boolean> =>
    send(`${baseUrl}/admin/markets${path}`, adminToken, body);
  const isNew = { paid: await admin('', PAID), paused: await admin('', PAUSED) };
  if (isNew.paid && (await untilOpen(baseUrl, PAID.slug)))
    await admin(`/${PAID.slug}/resolve`, { outcomeIndex: 0 });
  if (isNew.paused && (await untilOpen(baseUrl, PAUSED.slug))) await admin(`/${PAUSED.slug}/pause`);
  const coin = coinAt(now);
  if (!(await admin('', coin))) return;
  const throwIt = (): void => {
    const outcomeIndex = Math.random() < 0.5 ? 0 : 1;
    // An exchange that is stopping pays no more.
    void admin(`/${coin.slug}/resolve`, { outcomeIndex }).catch(() => false);
  };
  setTimeout(throwIt, PAYS_MS).unref();
}
