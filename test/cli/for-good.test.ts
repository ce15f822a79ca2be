import { commandsOf, EXTENSIONS } from '../../src/app/extensions';
import { PROGRAM } from '../../src/app/process';
import { openStore } from '../../src/app/store';
import { runCli } from '../../src/cli/run';
import { loadConfig } from '../../src/config/load';
import type { RunningRedis } from '../../src/local/redis';
import { createLogger } from '../../src/log';
import { startTestRedis } from '../support/redis';
import { createShell } from './shell';

let redis: RunningRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());

/** Runs a command at a terminal whose user gives this answer. */
async function atTerminal(answer: string, ...words: string[]) {
  const said = { code: 0, asked: '', err: '' };
  said.code = await runCli(words, {
    version: PROGRAM.version,
    extensions: commandsOf(EXTENSIONS),
    open: () => {
      const config = loadConfig({ NODE_ENV: 'test', REDIS_URL: redis.url });
      return openStore(config, createLogger({ ...config, logLevel: 'silent' }, 'cli'));
    },
    out: async () => undefined,
    err: (text) => {
      said.err += text;
    },
    ask: async (question) => {
      said.asked = question;
      return answer;
    },
  });
  return said;
}

test('a command that pays asks at a terminal, and needs --yes elsewhere, because a payout cannot be undone', async () => {
  const shell = createShell(redis.url);
  const statusOf = async (slug: string): Promise<string> =>
    (await shell.json('markets', 'show', slug)).status;
  for (const slug of ['one', 'two']) await shell.json('markets', 'create', `Which ${slug}?`, '--slug', slug);

  const resolve = ['markets', 'resolve', 'one', '--outcome', 'yes'];
  const piped = await shell.exchange(...resolve);
  expect([piped.code, piped.err]).toEqual([2, expect.stringMatching(/repeat the command with --yes/)]);
  const hasty = await atTerminal('y', ...resolve);
  expect([hasty.code, hasty.err]).toEqual([2, 'error: nothing was done\n']);
  expect(hasty.asked).toMatch(/^resolve one, "Which one\?": "Yes" has won, which pays 0 of 0 holders\. /);
  expect(await statusOf('one')).toBe('OPEN');
  expect((await atTerminal('yes', ...resolve)).code).toBe(0);
  expect(await statusOf('one')).toBe('RESOLVED');

  for (const words of [
    ['markets', 'void', 'two'],
    ['markets', 'close', 'two'],
    ['restore', 'package.json', '--force'],
  ]) {
    expect((await shell.exchange(...words)).code).toBe(2);
  }
  expect(await statusOf('two')).toBe('OPEN');
  expect((await atTerminal('yes', 'markets', 'void', 'two')).code).toBe(0);
  expect(await statusOf('two')).not.toBe('OPEN');
});

test.each([
  [
    ['comments', 'delete', '81cqi70o-c12'],
    'delete the text of comment 81cqi70o-c12. This cannot be undone. Type yes: ',
  ],
  [
    ['profiles', 'reset', `0x${'12'.repeat(20)}`, '--bio', '--avatar'],
    `clear bio, avatarUrl of the profile of 0x${'12'.repeat(20)}. This cannot be undone. Type yes: `,
  ],
  [
    ['settlements', 'acknowledge', '81cqi70o-1-s0', '--tx', `0x${'ab'.repeat(32)}`],
    `record that transaction 0x${'ab'.repeat(32)} settled 81cqi70o-1-s0. This cannot be undone. Type yes: `,
  ],
])('%j asks at a terminal, and needs --yes elsewhere', async (words, question) => {
  const piped = await createShell(redis.url).exchange(...words);
  expect([piped.code, piped.err]).toEqual([2, expect.stringMatching(/repeat the command with --yes/)]);
  const hasty = await atTerminal('y', ...words);
  expect([hasty.code, hasty.asked, hasty.err]).toEqual([2, question, 'error: nothing was done\n']);
});

test('the version and the check of a backup file need no Redis', async () => {
  const shell = createShell('redis://127.0.0.1:1');
  const { version } = require('../../package.json');
  expect(await shell.exchange('--version')).toMatchObject({ code: 0, out: `${version}\n` });
  const missing = await shell.exchange('restore', 'no-such.backup', '--verify-only');
  expect([missing.code, missing.err]).toEqual([
    3,
    'error: no-such.backup: there is no such file or folder; check the path\n',
  ]);
  const folder = await shell.exchange('restore', __dirname, '--verify-only');
  expect([folder.code, folder.err]).toEqual([3, expect.stringMatching(/: it is a folder; choose a file\n$/)]);
});
