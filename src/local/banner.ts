import path from 'node:path';
import type { Config } from '../config/load';

const PAGES = { '/': 'trading', '/docs': 'documentation' };
const REQUEST_MS_MAX = 2_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** The pages for people that web serves, which depend on SERVE_UI. */
export async function pagesServed(baseUrl: string): Promise<readonly string[]> {
  const served = await Promise.all(
    Object.keys(PAGES).map(async (page) => {
      const answer = await fetch(baseUrl + page, { signal: AbortSignal.timeout(REQUEST_MS_MAX) }).catch(
        () => null,
      );
      await answer?.body?.cancel();
      return answer?.ok === true ? [page] : [];
    }),
  );
  return served.flat();
}

export interface Opened {
  readonly port: number;
  readonly redisUrl: string;
  /** The file with the variables of the chain that this session started; null without one. */
  readonly chainEnv: string | null;
  readonly pages: readonly string[];
  readonly logFile: string;
  /** Null without operators. */
  readonly adminToken: string | null;
}

/**
 * The text is short: with the lines of npm, the build and the search for a Redis, a first start prints at most 12 lines. It
 * mentions a variable only where it is not set.
 */
export function printBanner(
  config: Config,
  { port, redisUrl, chainEnv, pages, logFile, adminToken }: Opened,
): void {
  const url = `http://localhost:${port}`;
  const redis = config.redisGiven ? 'the Redis of REDIS_URL' : 'a Redis of its own, gone when it stops';
  const shown = Object.entries(PAGES).filter(([page]) => pages.includes(page));
  const settings = [
    ...(config.demo ? ['DEMO=0: no demo markets'] : []),
    ...(config.adminTokens === null ? ['ADMIN_TOKEN=<32 or more characters>: administer'] : []),
    `LOG_LEVEL=info: more in ${path.relative(process.cwd(), logFile)}`,
  ];
  say(`The exchange is open: ${url} (${config.network}, ${fundsOf(config, chainEnv !== null)}, ${redis})`);
  if (shown.length > 0)
    say(`  pages     ${shown.map(([page, name]) => `${url}${page} (${name})`).join(', ')}`);
  // The token is in the fragment, which no browser sends to a server.
  if (pages.includes('/') && adminToken !== null) say(`  operator  ${url}/operate#${adminToken}`);
  // A given URL may have a password in it, and its owner knows it.
  const doctor = config.redisGiven ? '' : `; ${cliOf(config, redisUrl, chainEnv)} doctor`;
  say(`  try       curl -s '${url}/markets?limit=3'${doctor}`);
  say(`  settings  ${settings.join('; ')}`);
  say('  stop      Ctrl-C');
}

const cliOf = ({ shards }: Config, redisUrl: string, chainEnv: string | null): string =>
  chainEnv === null
    ? `REDIS_URL=${redisUrl} ${shards > 1 ? `SHARDS=${shards} ` : ''}npm run -s cli --`
    : `node --env-file=${path.relative(process.cwd(), chainEnv)} dist/cli.js`;

function fundsOf({ chainId, funds }: Config, ownChain: boolean): string {
  if (ownChain) return `chain ${chainId} (local anvil), test funds`;
  return `chain ${chainId}, ${funds === 'chain' ? 'funds on the chain' : 'paper funds'}`;
}
