import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from 'ctf-exchange-client';
import { freePort } from '../../src/local/ports';
import { ROOT, type Started, startProgram } from '../support/processes';
import { until } from '../support/waiting';

/** From an unbuilt folder to a moving book, with the download of the packages: a start that takes longer hangs. */
const START_MS_MAX = 600_000;
const POLL_MS = 250;
/** The most lines: npm's own, one about an old Node, the build, a Redis that had to be unpacked, and the addresses. */
const LINES_MAX = 13;
/** Each needs a sign-in, of which ten a minute are allowed. */
const PROGRAM_ROUNDS = 3;
/** Buckets of five minutes in a day, but for the one that may just have begun. */
const DAY_POINTS_MIN = 285;
/** The files that a clone does not have. */
const NOT_CLONED: ReadonlySet<string> = new Set(['node_modules', 'dist', '.cache', '.git']);

let folder: string;
let started: Started;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'exchange-clone-'));
  for (const name of readdirSync(ROOT).filter((one) => !NOT_CLONED.has(one))) {
    cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  }
  // Already installed, because this test does not use the registry.
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
});
afterAll(async () => {
  started.child.kill('SIGINT');
  await started.exited;
  rmSync(folder, { recursive: true });
});

const inTime = (what: string, holds: () => Promise<boolean> | boolean): Promise<void> =>
  until(what, holds, {
    patienceMs: START_MS_MAX,
    pollMs: POLL_MS,
    isLost: () => started.child.exitCode !== null,
    explain: () => started.stdout() + started.stderr(),
  });

async function runProgramOf(page: string, baseUrl: string): Promise<void> {
  const text = readFileSync(path.join(ROOT, `docs/use/${page}.md`), 'utf8');
  const file = path.join(folder, `${page}.mjs`);
  writeFileSync(file, /```js\n([\s\S]*?)```/.exec(text)?.[1] ?? '');
  const program = startProgram(process.execPath, [file], { BASE_URL: baseUrl });
  const exit = await program.exited;
  expect({ page, exit, stderr: program.stderr() }).toEqual({ page, exit: 0, stderr: '' });
  expect(program.stdout().split('\n').length).toBeGreaterThan(2);
}

test(
  'npm start in a fresh folder opens six markets with a day of history and a coin, whose books move and in which the programs of the pages trade, and ends within 5 s of Ctrl-C',
  async () => {
    const port = await freePort();
    started = startProgram('npm', ['--prefix', folder, 'start'], { PORT: String(port) });
    await inTime('the banner', () => /Ctrl-C/.test(started.stdout()));
    const lines = `${started.stdout()}${started.stderr()}`.trimEnd().split('\n');
    expect(lines.some((line) => line.startsWith('The exchange is open:'))).toBe(true);
    expect(lines.length).toBeLessThanOrEqual(LINES_MAX);
    expect(existsSync(path.join(folder, 'dist/demo.js'))).toBe(true);

    const client = createClient({ baseUrl: `http://127.0.0.1:${port}` });
    const markets = async () => (await client.markets({ status: 'OPEN' })).data;
    await inTime('seven books with two sides', async () => {
      const open = await markets();
      // Six about the next year, and the coin that is tossed in a few minutes.
      return open.length === 7 && open.every(({ bestBid, bestAsk }) => bestBid !== null && bestAsk !== null);
    });
    const before = new Map((await markets()).map(({ id, sequence }) => [id, sequence]));
    await inTime('all of them move', async () =>
      (await markets()).every(({ id, sequence }) => sequence > (before.get(id) ?? sequence)),
    );
    const others = (await client.markets({ tag: 'demo' })).data.map(({ status }) => status);
    expect([others.includes('RESOLVED'), others.includes('PAUSED')]).toEqual([true, true]);
    const event = await client.event(`money-${new Date().getUTCFullYear() + 1}`);
    expect(event.markets).toHaveLength(3);
    const busiest = event.markets[0]?.id ?? '';
    await inTime('five comments', async () => (await client.comments(busiest)).data.length === 5);
    await inTime('somebody trades', async () => (await markets()).some(({ volume }) => volume !== '0'));
    for (const { id, category, tags } of await markets()) {
      expect(category).not.toBe('');
      if (tags.includes('coin')) continue;
      expect((await client.priceHistory(id, '1d')).history.length).toBeGreaterThanOrEqual(DAY_POINTS_MIN);
    }

    // Their prices must fit books in which bots quote, at any quotes.
    for (let round = 0; round < PROGRAM_ROUNDS; round++) {
      for (const page of ['first-trade', 'quick-start']) await runProgramOf(page, client.baseUrl);
    }

    started.child.kill('SIGINT');
    expect(await started.exited).toBe(0);
    // npm may print warnings about this machine's settings.
    expect(started.stderr().replace(/^npm warn .*\n/gm, '')).toBe('');
  },
  3 * START_MS_MAX,
);
