import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { MarketId } from '../../src/exchange/market';
import { createKeys } from '../../src/store/redis/keys';
import { ROOT } from '../support/processes';

/** The tables of docs/inside/engine.md and of extensions compared with the scripts and the keys, in both directions. */
const textOf = (page: string): string => readFileSync(path.join(ROOT, page), 'utf8');
const PAGE = textOf('docs/inside/engine.md');
const section = (title: string, page = PAGE): string =>
  page.split(/^## /m).find((part) => part.startsWith(title)) ?? '';
const firstCells = (text: string): string[] =>
  [...text.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap((row) =>
    [...(row[1] ?? '').matchAll(/`([^`]+)`/g)].map((cell) => cell[1] ?? ''),
  );
const scriptsOf = (folder: string): string[] =>
  readdirSync(path.join(ROOT, folder)).flatMap((file) => (file.endsWith('.lua') ? file.slice(0, -4) : []));

const EXTENSIONS = readdirSync(path.join(ROOT, 'src/extensions'))
  .map((name) => `src/extensions/${name}`)
  .filter((folder) => existsSync(path.join(ROOT, folder, 'lua')));

test.each<readonly [page: string, folder: string]>([
  ['docs/inside/engine.md', 'lua'],
  ...EXTENSIONS.map((folder) => [`${folder}/README.md`, `${folder}/lua`] as const),
])('%s lists every script of %s and no other', (page, folder) => {
  // A script that replaces one of the core is in the table of the core.
  const scripts = scriptsOf(folder).filter((name) => folder === 'lua' || !scriptsOf('lua').includes(name));
  expect(scripts).not.toEqual([]);
  expect(firstCells(section('Scripts', textOf(page))).sort()).toEqual(scripts.sort());
});

/** A key as the page writes it: `{x0}:m:<id>:b`. A cell that starts with a colon continues the market's key. */
const listed = new Set(
  firstCells(section('Keys')).map((key) => (key.startsWith(':') ? `{x0}:m:<id>${key}` : key)),
);

function templates(): string[] {
  const keys = createKeys(0);
  const address = Buffer.from('<address>');
  return Object.entries(keys)
    .filter(([name]) => name !== 'prefix')
    .flatMap(([name, key]): string[] => {
      if (typeof key === 'string') return [key];
      if (name === 'operation') return [keys.operation('<id>')];
      if (name === 'journalDraft') return [String(keys.journalDraft(address, '<operation>'))];
      if (name === 'channel') return ['{x0}:to:<shard>'];
      if (name === 'channelDraft') return ['{x0}:to:<shard>:new'];
      if (name === 'commentLikes') return ['{x0}:m:<id>:cl:<n>'];
      if (name === 'candles')
        return [60, 1_800, 43_200].map((seconds) => keys.candles('<id>' as MarketId, seconds));
      if (name === 'holders')
        return ([0, 1] as const).map((outcome) => keys.holders('<id>' as MarketId, outcome));
      const withAddress = String((key as unknown as (of: Buffer) => Buffer)(address));
      return [withAddress.includes('undefined') ? '' : withAddress.replace(/:m:<address>/, ':m:<id>')];
    });
}

test('the page lists every key of the shard and no other', () => {
  const own = [...listed].filter((key) => key.startsWith('{x0}:') && key !== '{x0}:door');
  expect(own.length).toBeGreaterThan(30);
  expect(own.sort()).toEqual([...new Set(templates())].sort());
});
