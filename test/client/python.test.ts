import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { startProgram } from '../support/processes';
import { tell } from '../support/telling';
import { sleep } from '../support/waiting';
import { hasPython, type MakerStory, PACKAGE, PYTHON, startMakerStory } from './python-maker';

/** Skipped only where the packages are not. */
const ifPython = hasPython ? test : test.skip;
/** In the long form a web process is killed every so many seconds, and Redis twice. */
const SECONDS = Number(process.env.PYTHON_SECONDS ?? 0);
const KILL_EVERY_MS = Number(process.env.PYTHON_KILL_SECONDS ?? 60) * 1_000;
const TAKE_EVERY_MS = 700;
const STORY_MS_MAX = 120_000;

const python = (...args: string[]) =>
  spawnSync(PYTHON, args, { cwd: PACKAGE, encoding: 'utf8', env: { ...process.env, PYTHONPATH: PACKAGE } });

ifPython('the Python client passes its own tests, with the vectors of the docs', () => {
  const { status, stderr } = python('-m', 'unittest', 'discover', '-s', 'tests');
  expect([status, stderr]).toEqual([0, expect.stringMatching(/^Ran \d{2,} tests/m)]);
});

/** Half a minute: only in the long form. */
const hasMypy = SECONDS > 0 && spawnSync('mypy', ['--version']).status === 0;
(hasPython && hasMypy ? test : test.skip)('the types of the Python client hold', () => {
  const { status, stdout } = spawnSync('mypy', ['--cache-dir', '/dev/null'], {
    cwd: PACKAGE,
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([0, expect.stringContaining('Success')]);
});

describe('the Python client works with a real exchange', () => {
  let story: MakerStory | undefined;
  beforeAll(async () => {
    if (hasPython) story = await startMakerStory();
  }, STORY_MS_MAX);
  afterAll(() => story?.stop());

  ifPython('the program of its page places an order, follows a book and leaves', async () => {
    if (!story) throw new Error('the story has not begun');
    const page = readFileSync(path.join(PACKAGE, 'README.md'), 'utf8');
    const program = /```python\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
    const started = startProgram(PYTHON, ['-c', program.replace('http://localhost:3000', story.url)], {
      PYTHONPATH: PACKAGE,
    });
    expect({ exit: await started.exited, stderr: started.stderr() }).toEqual({ exit: 0, stderr: '' });
    expect(started.stdout()).toMatch(/^OPEN 10\n/);
  });

  ifPython(
    'the market maker quotes through killed web processes and restarts of Redis, and knows what became of every order',
    async () => {
      if (!story) throw new Error('the story has not begun');
      const { quotesAfter, killWeb, restartRedis, taker, take, look, compared, audit } = story;
      await quotesAfter(0, 'the first quotes rest');
      const trader = taker();
      let isOver = false;
      const trading = (async () => {
        for (let round = 0; !isOver; round++) {
          await take(trader, round % 2 === 0 ? 0 : 1).catch(() => undefined);
          await look();
          await sleep(TAKE_EVERY_MS);
        }
      })();
      const backMs: Record<'web' | 'redis', number[]> = { web: [], redis: [] };
      const endMs = Date.now() + SECONDS * 1_000;
      for (let round = 1; round === 1 || Date.now() < endMs; round++) {
        if (SECONDS > 0) await sleep(KILL_EVERY_MS);
        backMs.web.push(await killWeb());
        if (round === 1 || round === 5) backMs.redis.push(await restartRedis());
      }
      await sleep(2 * TAKE_EVERY_MS);
      isOver = true;
      await trading;
      const { booked, sent, wrong, missing, last } = await audit();
      const books = compared();
      const worst = (list: readonly number[]): number => Math.round(Math.max(...list));
      const faults = JSON.stringify(last.faults);
      if (SECONDS > 0) {
        tell(`${sent} orders sent, ${booked} booked, ${wrong.length + missing.length} not accounted for`);
        tell(
          `${backMs.web.length} kills of a web process: quotes back after at most ${worst(backMs.web)} ms`,
        );
        tell(`${backMs.redis.length} restarts of Redis: quotes back after at most ${worst(backMs.redis)} ms`);
        tell(`${books.compared} books compared, ${books.differed} differed; faults noticed: ${faults}`);
      }
      expect({ wrong, missing, differed: books.differed }).toEqual({ wrong: [], missing: [], differed: 0 });
      expect(books.compared).toBeGreaterThan(0);
      expect(booked).toBeGreaterThanOrEqual(4);
      expect(last.connections).toBeGreaterThan(1);
      expect(last.faults).not.toHaveProperty('checksum');
    },
    STORY_MS_MAX + SECONDS * 2_000,
  );
});
