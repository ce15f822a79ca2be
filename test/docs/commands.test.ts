import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Deployment, type Process, startDeployment } from '../support/deployment';
import { blocksFor, blocksOf } from '../support/page-commands';
import { ROOT, startProgram } from '../support/processes';
import { ADMIN_TOKEN } from '../support/settings';
import { type OpenMarket, openMarket } from '../support/trader';

/** A comment above every command and program of a page names the test that runs it, or the reason why none does. */
const OWN = 'test/docs/commands.test.ts';
const LANGUAGES = ['sh', 'js', 'ts', 'python', 'go'];
const PAGES = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'bench/README.md', 'packages/client/README.md'],
  'clients/python/README.md',
  ...['docs', 'docs/use', 'docs/run', 'docs/inside'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
];
const BLOCKS = PAGES.flatMap(blocksOf).filter(({ language }) => LANGUAGES.includes(language));
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

test('every block of commands or code names the test that runs it, or the reason why none does', () => {
  expect(BLOCKS.length).toBeGreaterThan(25);
  const bare = BLOCKS.filter(({ runBy, notRun }) => runBy === null && (notRun ?? '').length < 20);
  expect(bare.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
});

test('every test that a block names is there and reads the page, and so is every file that a reason names', () => {
  const wrong = BLOCKS.flatMap(({ page, line, runBy, notRun }) => {
    const named = [...(notRun ?? '').matchAll(/test\/[\w./-]+\.ts/g)].map(([file]) => file);
    if (named.some((file) => !existsSync(path.join(ROOT, file)))) return [`${page}:${line}`];
    if (runBy === null || runBy === OWN) return [];
    const reads = existsSync(path.join(ROOT, runBy)) && read(runBy).includes(page);
    return reads ? [] : [`${page}:${line} ${runBy}`];
  });
  expect(wrong).toEqual([]);
});

test('no page runs a package of another project: the command line goes through npm run, or is ctf-exchange', () => {
  expect(
    PAGES.filter((page) => read(page).includes('npx exchange ') || /npx exchange`/.test(read(page))),
  ).toEqual([]);
  expect(Object.keys(JSON.parse(read('package.json')).bin)).toEqual(['ctf-exchange']);
});

describe('the commands that only need a running exchange', () => {
  let deployment: Deployment;
  let web: Process;
  let market: OpenMarket;
  beforeAll(async () => {
    deployment = await startDeployment();
    web = await deployment.web();
    // The slug of a market of the demo, which the pages use.
    market = await openMarket(web.client, ADMIN_TOKEN, { slug: 'ether-new-high-2027' });
  });
  afterAll(() => deployment.stop());

  const own = PAGES.flatMap((page) => blocksFor(page, OWN));

  test.each(own.map((block) => [`${block.page}:${block.line}`, block] as const))(
    'the commands of %s are answered as they stand',
    async (_where, { text }) => {
      const script = text
        .replaceAll('http://localhost:3000', web.url)
        .replaceAll('<id>', market.id)
        // A refusal is a failure, and each answer has a line.
        .replaceAll('curl -s', "curl -sS --fail-with-body -w '\\n'");
      const shell = startProgram('bash', ['-euc', script], { ADMIN_TOKEN });
      const exit = await shell.exited;
      expect({ exit, said: exit === 0 ? '' : shell.stdout() + shell.stderr() }).toEqual({
        exit: 0,
        said: '',
      });
      const answers = shell.stdout().trim().split('\n');
      expect(answers).toHaveLength((text.match(/^curl /gm) ?? []).length);
      for (const answer of answers) expect(typeof JSON.parse(answer)).toBe('object');
    },
  );
});
