import type { Locator, Page } from 'playwright-core';
import { startChromium } from '../test/support/chromium';
import { until } from '../test/support/waiting';
import { round } from './figures';
import { atLeast, atMost, type Line, lineOf } from './line';
import { submitSteadily } from './realtime';
import { createSigner, type Signer } from './signer';
import { call, FASTEST, type Side, startWeb, stopSides } from './web-process';

/**
 * The page in a real browser with 120 markets, whose list is scrolled up and down all the time:
 *   scroll    nothing else happens
 *   burst     the book that is shown changes 50 times a second, each fifth time by a trade
 * Browser, exchange and Redis share the machine, so that frames per second are a lower bound. The time of a processor
 * that a frame takes says the same on a machine that does other things.
 */
export interface PageRow {
  readonly suite: 'page';
  readonly op: 'scroll' | 'burst';
  readonly markets: number;
  readonly framesPerSecond: number;
  readonly longestFrameMs: number;
  /** Frames in which no row stood in the middle of the list. */
  readonly blankFrames: number;
  /** Tasks of more than 50 ms. */
  readonly longTasks: number;
  /** Time of a processor for each frame: of the page's own thread, and of the whole browser, which draws without a graphics card. */
  readonly threadMsPerFrame: number;
  readonly browserMsPerFrame: number;
  /** Sequences of the book that a frame showed. */
  readonly shownUpdatesPerSecond: number;
}

const MARKETS = 120;
const SECONDS = 5;
const UPDATES_PER_SECOND = 50;
/** Each so many orders one meets the book. */
const CROSSES = 5;
const CROSSING_CENTS = 60;
/** On both sides of the book before anything is measured. */
const RESTING = 160;
/** As many updates reach the page as orders are placed. */
const INTERVAL_MS = '10';
const DESK = { width: 1_440, height: 900 };

export async function benchPage(redisUrl: string, emit: (row: PageRow) => void): Promise<void> {
  const web = await startWeb(FASTEST, redisUrl, undefined, undefined, {
    BROADCAST_INTERVAL_MS: INTERVAL_MS,
  });
  try {
    const signer = await createSigner(web);
    for (let i = 1; i < MARKETS; i++) await openMarket(web, i);
    await submitSteadily(web, RESTING, RESTING, signer.sign, () => undefined);
    const browser = await startChromium();
    try {
      const page = await browser.newPage({ viewport: DESK });
      await page.goto(`http://127.0.0.1:${web.port}/?market=${signer.market.id}`);
      const list = await wholeList(page);
      emit(await measured('scroll', page, list));
      const [row] = await Promise.all([measured('burst', page, list), burst(web, signer)]);
      emit(row);
    } finally {
      await browser.close();
    }
  } finally {
    stopSides([web]);
  }
}

async function openMarket(web: Side, number: number): Promise<void> {
  const body = JSON.stringify({ question: `Does market ${number} scroll?`, category: 'many' });
  const { status, text } = await call(web, 'POST', '/admin/markets', body);
  if (status !== 201) throw new Error(text);
}

/** A little longer than it is looked at. */
function burst(web: Side, { sign }: Signer): Promise<void> {
  let count = 0;
  const next = () => sign(++count % CROSSES === 0 ? { cents: CROSSING_CENTS, outcome: 0 } : {});
  return submitSteadily(web, UPDATES_PER_SECOND * (SECONDS + 1), UPDATES_PER_SECOND, next, () => undefined);
}

/** The list, once it has all markets. */
async function wholeList(page: Page): Promise<Locator> {
  const list = page.locator('.market-rows');
  const rows = page.getByTestId('market');
  await until('all markets listed', async () => {
    await list.evaluate((rows) => rows.scrollTo(0, rows.scrollHeight));
    return (await rows.count()) === MARKETS;
  });
  return list;
}

async function measured(op: PageRow['op'], page: Page, list: Locator): Promise<PageRow> {
  const tab = await page.context().newCDPSession(page);
  // Counts from here on, the time of a processor: whatever else the machine does.
  await tab.send('Performance.enable', { timeDomain: 'threadTicks' });
  const before = await browserSeconds(page);
  const seen = await scrolled(list);
  const { metrics } = await tab.send('Performance.getMetrics');
  const threadSeconds = metrics.find(({ name }) => name === 'ThreadTime')?.value ?? Number.NaN;
  const cpuSeconds = (await browserSeconds(page)) - before;
  await tab.detach();
  const gaps = seen.frames.slice(1).map((atMs, i) => atMs - (seen.frames[i] ?? atMs));
  const lookedMs = gaps.reduce((sum, gap) => sum + gap, 0);
  return {
    suite: 'page',
    op,
    markets: MARKETS,
    framesPerSecond: round((gaps.length * 1_000) / lookedMs, 1),
    longestFrameMs: round(Math.max(...gaps), 1),
    blankFrames: seen.blank,
    longTasks: seen.longTasks,
    threadMsPerFrame: round((threadSeconds * 1_000) / gaps.length),
    browserMsPerFrame: round((cpuSeconds * 1_000) / gaps.length),
    shownUpdatesPerSecond: round((seen.updates * 1_000) / lookedMs, 1),
  };
}

/** The time of processors that all processes of the browser have taken. */
async function browserSeconds(page: Page): Promise<number> {
  const session = await page.context().browser()?.newBrowserCDPSession();
  const { processInfo = [] } = (await session?.send('SystemInfo.getProcessInfo')) ?? {};
  await session?.detach();
  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

/** Scrolls up and down for SECONDS, and looks at each frame. */
const scrolled = (list: Locator) =>
  list.evaluate(async (rows, forMs) => {
    const { ownerDocument: document } = rows;
    const page = document.defaultView;
    const seen = { frames: [] as number[], blank: 0, longTasks: 0, updates: 0 };
    if (!page) return seen;
    const observer = new page.PerformanceObserver((tasks: { getEntries(): readonly unknown[] }) => {
      seen.longTasks += tasks.getEntries().length;
    });
    observer.observe({ type: 'longtask' });
    const box = rows.getBoundingClientRect();
    const startedAtMs = page.performance.now();
    let sequence = '';
    for (;;) {
      const nowMs: number = await new Promise((resolve) => page.requestAnimationFrame(resolve));
      seen.frames.push(nowMs);
      const part = (nowMs - startedAtMs) / forMs;
      if (part >= 1) break;
      rows.scrollTo(0, Math.abs(Math.sin(part * 15)) * (rows.scrollHeight - rows.clientHeight));
      const there = document.elementFromPoint(box.x + 60, box.y + box.height / 2);
      if (!there?.closest('.market-item')?.textContent) seen.blank += 1;
      const shown = document.querySelector('[data-testid=book]')?.getAttribute('data-sequence') ?? '';
      if (shown !== sequence) seen.updates += 1;
      sequence = shown;
    }
    observer.disconnect();
    return seen;
  }, SECONDS * 1_000);

const FRAMES_PER_SECOND = 50;
const WORDS = { scroll: '120 markets scrolled', burst: '120 markets scrolled, 50 updates/s' };

export const pageLines = (rows: readonly PageRow[]): Line[] =>
  rows.flatMap(({ op, framesPerSecond, longestFrameMs, blankFrames, threadMsPerFrame }) => {
    const of = { suite: 'page' };
    return [
      lineOf({
        ...of,
        what: WORDS[op],
        figure: framesPerSecond,
        unit: 'frames/s',
        target: atLeast(FRAMES_PER_SECOND),
      }),
      lineOf({
        ...of,
        what: `${WORDS[op]}: without a row`,
        figure: blankFrames,
        unit: 'frames',
        target: atMost(0),
      }),
      lineOf({ ...of, what: `${WORDS[op]}: longest frame`, figure: longestFrameMs, unit: 'ms' }),
      lineOf({ ...of, what: `${WORDS[op]}: a frame`, figure: threadMsPerFrame, unit: 'ms CPU' }),
    ];
  });
