import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster, Redis } from 'ioredis';
import type { Funds } from '../../exchange/chain';
import { createDirect, isElsewhere, noteSentAgain, sendWithin } from './direct';
import { slotKeyOf } from './keys';
import { limitRefusal } from './refusals';
import type { ArgsOf, KeysOf, ReplyOf, ScriptArgument, VerbName } from './verbs';

export type RedisClient = Redis | Cluster;
/**
 * Runs one script; a script receives the slot key of its partition after its keys (`slotKeyOf`), so every script runs
 * through here. Keys, arguments and reply are those of the table in verbs.ts.
 */
export type RunScript = <Name extends VerbName>(
  name: Name,
  keys: KeysOf<Name>,
  args: ArgsOf<Name>,
) => Promise<ReplyOf<Name>>;

/** Called after each run of a script, with the time to its reply and whether a reply came. */
export type ObserveScript = (name: string, seconds: number, failed: boolean) => void;

interface Script {
  readonly source: string;
  readonly sha: string;
}

const sourcesByFunds = new Map<Funds, ReadonlyMap<string, string>>();

/**
 * Returns the bundled scripts: those of the build beside this file (dist/lua, for funds on a chain dist/lua-chain), or bundled
 * now when the code runs from src. A process reads them once.
 */
export function scriptSources(funds: Funds = 'paper'): ReadonlyMap<string, string> {
  const sources = sourcesByFunds.get(funds) ?? readSources(funds);
  sourcesByFunds.set(funds, sources);
  return sources;
}

function readSources(funds: Funds): ReadonlyMap<string, string> {
  const name = funds === 'chain' ? 'lua-chain' : 'lua';
  const built = join(__dirname, '../..', name);
  if (!existsSync(built)) {
    // Only the sources need the bundler, whose parser is not installed in production.
    const { cachedBundles } =
      require('../../lua-bundle/bundle-cache') as typeof import('../../lua-bundle/bundle-cache');
    const root = join(__dirname, '../../..');
    return cachedBundles(root, join(root, '.cache', name), funds);
  }
  const sources = new Map<string, string>();
  for (const file of readdirSync(built)) {
    sources.set(file.replace(/\.lua$/, ''), readFileSync(join(built, file), 'utf8'));
  }
  return sources;
}

/**
 * Sends EVALSHA, and EVAL when Redis does not know the script (first run, restart, SCRIPT FLUSH). Each process brings its own
 * scripts, so old and new replicas can run side by side. A script that was refused with NOSCRIPT has not run.
 */
export function createScripts(
  redis: RedisClient,
  sources: ReadonlyMap<string, string> = scriptSources(),
  observe: ObserveScript = () => {},
): RunScript {
  const scripts = new Map<string, Script>();
  for (const [name, source] of sources) {
    scripts.set(name, { source, sha: createHash('sha1').update(source).digest('hex') });
  }
  const direct = createDirect(redis);

  async function evaluate(
    { sha, source }: Script,
    tail: (string | number | Buffer)[],
    slotKey: string | null,
    startedAt: number,
  ): Promise<unknown> {
    const at = direct(slotKey);
    let refused: unknown;
    try {
      return await at.callBuffer('EVALSHA', sha, ...tail);
    } catch (error) {
      refused = error;
    }
    if (isUnknownScript(refused)) {
      try {
        return await sendWithin(at, at, ['EVAL', source, ...tail], startedAt);
      } catch (error) {
        refused = error;
      }
    }
    if (at === redis || !isElsewhere(refused)) throw refused;
    noteSentAgain(redis);
    try {
      return await sendWithin(redis, at, ['EVALSHA', sha, ...tail], startedAt);
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return sendWithin(redis, at, ['EVAL', source, ...tail], startedAt);
    }
  }

  async function run(
    name: string,
    keys: readonly (string | Buffer)[],
    args: readonly ScriptArgument[],
  ): Promise<unknown> {
    const script = scripts.get(name);
    if (!script) throw new Error(`no script ${name}`);
    const slotKey = slotKeyOf(keys[0]);
    const tail =
      slotKey === null ? [keys.length, ...keys, ...args] : [keys.length + 1, ...keys, slotKey, ...args];
    const startedAt = performance.now();
    let failed = false;
    try {
      return await evaluate(script, tail, slotKey, startedAt);
    } catch (error) {
      failed = true;
      throw limitRefusal(error) ?? error;
    } finally {
      observe(name, (performance.now() - startedAt) / 1_000, failed);
    }
  }
  // Only the text of a script determines its reply: test/store/verbs.test.ts compares it with the table.
  return run as RunScript;
}

const isUnknownScript = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('NOSCRIPT');
