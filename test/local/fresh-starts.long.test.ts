import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DEMO_START_MS, startDemo } from '../support/demo';
import { blocksFor } from '../support/page-commands';
import { ROOT, startNode } from '../support/processes';

/** The programs of the first pages in the exchange that `npm start` opens, with its demo markets and their bots. */
const STARTS = Number(process.env.FRESH_STARTS ?? 3);
/** Both programs and the end. */
const PROGRAMS_MS = 60_000;
const READERS = 'test/readme.test.ts';
const FOLDER = path.join(ROOT, '.cache', `fresh-${process.pid}`);
beforeAll(() => mkdirSync(FOLDER, { recursive: true }));
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

const PROGRAMS = ['docs/use/first-trade.md', 'docs/use/quick-start.md'].flatMap((page) =>
  blocksFor(page, READERS).map(({ text }) => ({ page, text })),
);

test(
  `the programs of the first pages work in each of ${STARTS} fresh starts, whatever the bots of the demo do`,
  async () => {
    expect(PROGRAMS).toHaveLength(2);
    for (let round = 1; round <= STARTS; round++) {
      const demo = await startDemo();
      try {
        for (const [i, { page, text }] of PROGRAMS.entries()) {
          const file = path.join(FOLDER, `program-${i}.mjs`);
          writeFileSync(file, text);
          const program = startNode([file], { BASE_URL: demo.url });
          const exit = await program.exited;
          const said = { round, page, exit, stderr: program.stderr() };
          expect(said).toEqual({ round, page, exit: 0, stderr: '' });
        }
      } finally {
        await demo.stop();
      }
    }
  },
  STARTS * (DEMO_START_MS + PROGRAMS_MS),
);
