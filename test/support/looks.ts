import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

export const DESK = { width: 1_440, height: 900 };
export const TABLET = { width: 1_024, height: 768 };
export const PHONE = { width: 390, height: 844 };
export const NARROW = { width: 320, height: 640 };

/** Each size with both themes, so that any half of the list has all of them. */
export const LOOKS = [
  ['light', DESK],
  ['dark', PHONE],
  ['dark', DESK],
  ['light', PHONE],
  ['light', TABLET],
  ['dark', NARROW],
  ['dark', TABLET],
  ['light', NARROW],
] as const;

/** The findings of a WCAG AA checker, by rule and element. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate<AxeResults>(
    // One element of each rule that passed is enough.
    `axe.run({ runOnly: { type: 'tag', values: ${JSON.stringify(RULES)} }, resultTypes: ['violations'] })`,
  );
  // A checker that looked at nothing finds nothing.
  expect(found.passes.length).toBeGreaterThan(10);
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
  );
}

/** Accessible, and no wider than the window. */
export async function looksRight(what: string, page: Page): Promise<void> {
  expect({ what, found: await violations(page) }).toEqual({ what, found: [] });
  const widths = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]');
  const [all = 0, shown = 0] = widths;
  expect({ what, sticksOutPx: Math.max(0, all - shown) }).toEqual({ what, sticksOutPx: 0 });
}
