import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './processes';

/** A block of code in a page, and the comment above it: the test that runs it, or the reason why none does. */
export interface Block {
  readonly page: string;
  /** The number of its first line of code. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** The test file, from `<!-- run by test/... -->`. */
  readonly runBy: string | null;
  /** The reason, from `<!-- not run: ... -->`. */
  readonly notRun: string | null;
}

const FENCE = /^```(\w*)[^\n]*\n([\s\S]*?)^```$/gm;

export function blocksOf(page: string): readonly Block[] {
  const text = readFileSync(path.join(ROOT, page), 'utf8');
  return [...text.matchAll(FENCE)].map((match) => {
    const above = text.slice(0, match.index).trimEnd().split('\n').at(-1) ?? '';
    return {
      page,
      line: text.slice(0, match.index).split('\n').length + 1,
      language: match[1] ?? '',
      text: match[2] ?? '',
      runBy: /^<!-- run by (\S+) -->$/.exec(above)?.[1] ?? null,
      notRun: /^<!-- not run: (.+) -->$/.exec(above)?.[1] ?? null,
    };
  });
}

/** The blocks of a page that this test file runs. */
export const blocksFor = (page: string, testFile: string): readonly Block[] =>
  blocksOf(page).filter(({ runBy }) => runBy === testFile);
