import { commandsOf, EXTENSIONS } from '../../src/app/extensions';
import { PROGRAM } from '../../src/app/process';
import { openStore } from '../../src/app/store';
import { runCli } from '../../src/cli/run';
import { type Environment, loadConfig } from '../../src/config/load';
import { createLogger } from '../../src/log';

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command line within the test's process, as src/cli.ts does. */
export function createShell(redisUrl: string, env: Environment = {}, isColoured = false) {
  async function exchange(...words: string[]): Promise<Said> {
    const said = { out: '', err: '' };
    const code = await runCli(words, {
      version: PROGRAM.version,
      extensions: commandsOf(EXTENSIONS),
      isColoured,
      open: () => {
        const config = loadConfig({
          NODE_ENV: 'test',
          REDIS_URL: redisUrl,
          PAPER_GRANT: '1000000',
          ...env,
        });
        return openStore(config, createLogger({ ...config, logLevel: 'silent' }, 'cli'));
      },
      out: async (text) => {
        said.out += text;
      },
      err: (text) => {
        said.err += text;
      },
    });
    return { code, ...said };
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into, not typed
  async function json(...words: string[]): Promise<any> {
    const { code, out, err } = await exchange(...words, '--json');
    if (err !== '') throw new Error(`${code}: ${err}`);
    return JSON.parse(out);
  }

  return { exchange, json };
}
