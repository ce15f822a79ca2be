import path from 'node:path';
import { ARCHIVE_VERBS } from '../../src/extensions/archive/verbs';
import { CHAIN_VERBS } from '../../src/extensions/chain/verbs';
import { PEOPLE_VERBS } from '../../src/extensions/people/verbs';
import { PORTFOLIO_VERBS } from '../../src/extensions/portfolio/verbs';
import { SHARDS_VERBS } from '../../src/extensions/shards/verbs';
import { bundleScripts, luaSources } from '../../src/lua-bundle/bundle';
import {
  allowanceKey,
  apiKeysKey,
  createKeys,
  type KeyName,
  nonceKey,
  sessionKey,
} from '../../src/store/redis/keys';
import { VERBS } from '../../src/store/redis/verbs';

/**
 * The tables of verbs type the callers; here they are compared with the headers and the texts of the scripts, so that a key
 * or an argument that is added on one side only is found.
 */
const ROOT = path.join(__dirname, '../..');
/** The scripts for paper funds, and those for funds on a chain, of which some stand in place of one of the others. */
const FUNDS = ['paper', 'chain'] as const;
const bundles = { paper: bundleScripts(ROOT), chain: bundleScripts(ROOT, 'chain') };
const sources = { paper: luaSources(ROOT), chain: luaSources(ROOT, 'chain') };

interface Entry {
  readonly keys: readonly (KeyName | readonly KeyName[])[];
  readonly args: number;
  readonly more: { readonly keys?: KeyName; readonly args?: true };
}
const table = [VERBS, ARCHIVE_VERBS, CHAIN_VERBS, PEOPLE_VERBS, PORTFOLIO_VERBS, SHARDS_VERBS].flatMap(
  (verbs) => Object.entries(verbs) as [string, Entry][],
);

/** A key as headers write it, `{x}:m:<>:b`: whatever stands for a market, a wallet or a number is `<>`. */
function patternOf(name: KeyName): string {
  const keys = {
    ...createKeys(),
    session: sessionKey,
    nonce: nonceKey,
    apiKeys: apiKeysKey,
    allowance: allowanceKey,
  };
  const key = keys[name] as unknown as string | ((...parts: Buffer[]) => string | Buffer);
  const hole = Buffer.from('<>');
  return (typeof key === 'string' ? key : key(hole, hole).toString()).replace('{x0}', '{x}');
}

type Funds = (typeof FUNDS)[number];
/** Each script of the table with the funds for which it exists. */
const rows = table.flatMap(([name, entry]) =>
  FUNDS.filter((funds) => bundles[funds].has(name)).map((funds) => [name, funds, entry] as const),
);

function headerOf(script: string, funds: Funds): { keys: string; args: string } {
  const source = sources[funds].get(`${script}.lua`) ?? '';
  const part = (title: string): string => {
    const found = new RegExp(`^-- ${title} +(.*\\n(?:--          .*\\n)*)`, 'm').exec(source);
    return (found?.[1] ?? '').replace(/^-- +/gm, '  ').replace(/<[^<>]*>/g, '<>');
  };
  return { keys: part('KEYS'), args: part('ARGV') };
}

/** The numbered keys of a header; a script may refer to those of another one. */
function keysTold(script: string, funds: Funds): string[] {
  const { keys } = headerOf(script, funds);
  const other = /^1 to (\d+) as (\w+) has them/.exec(keys);
  if (other) return keysTold(other[2] ?? '', funds).slice(0, Number(other[1]));
  const numbered = keys.matchAll(
    /(?:^|\s)(\d+)(\.\.\.)? ((?:\{\w+[}:]|rl:)[^\s;,]*(?: or \{x\}:[^\s;,]+)*)/g,
  );
  return [...numbered].map(([, number, more = '', key]) => `${number}${more} ${key}`);
}

function keysOf({ keys, more }: Entry): string[] {
  const slots = keys.map((slot, i) => {
    const names = typeof slot === 'string' ? [slot] : slot;
    return `${i + 1} ${names.map(patternOf).join(' or ')}`;
  });
  return more.keys ? [...slots, `${keys.length + 1}... ${patternOf(more.keys)}`] : slots;
}

/** How many arguments a header counts, and whether it says that others follow. */
function argsTold(script: string, funds: Funds): { count: number; more: boolean } {
  const { args } = headerOf(script, funds);
  const other = /^1 to (\d+) as /.exec(args);
  let count = other ? Number(other[1]) : 0;
  let rest = args;
  for (;;) {
    const next = new RegExp(`(?:^|\\s{2,}|, | and )${count + 1} `).exec(rest);
    if (!next) break;
    count++;
    rest = rest.slice(next.index + next[0].length);
  }
  return { count, more: / then for each |\s{2,}\d+\.\.\. /.test(args) };
}

const highest = (source: string, list: 'KEYS' | 'ARGV'): number =>
  Math.max(0, ...[...source.matchAll(new RegExp(`\\b${list}\\[(\\d+)\\]`, 'g'))].map(([, n]) => Number(n)));

test('the table names every script, and no other', () => {
  const scripts = new Set(FUNDS.flatMap((funds) => [...bundles[funds].keys()]));
  expect(table.map(([name]) => name).sort()).toEqual([...scripts].sort());
});

test.each(rows)('the header of %s (%s) lists the keys of the table, in their order', (name, funds, entry) => {
  expect(keysTold(name, funds)).toEqual(keysOf(entry));
});

test.each(rows)(
  'the header of %s (%s) lists as many arguments as the table',
  (name, funds, { args, more }) => {
    expect(argsTold(name, funds)).toEqual({ count: args, more: more.args === true });
  },
);

test.each(rows)('%s (%s) reads only keys and arguments that its callers pass', (name, funds, entry) => {
  const source = bundles[funds].get(name) ?? '';
  // After the keys of a script that takes any number of them comes the door; the script reads none of those by its number.
  expect(highest(source, 'KEYS')).toBeLessThanOrEqual(entry.keys.length);
  // A caller of one that takes further arguments may leave out the first of those.
  const first = entry.more.args ? 1 : 0;
  expect(highest(source, 'ARGV')).toBeLessThanOrEqual(entry.args + first);
});

test('no two keys have one pattern, so a header that swaps two keys is found', () => {
  const names = new Set(
    table.flatMap(([, { keys, more }]) => [...keys.flat(), ...(more.keys ? [more.keys] : [])]),
  );
  expect(new Set([...names].map(patternOf)).size).toBe(names.size);
});
