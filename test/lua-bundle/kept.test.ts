import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleScripts } from '../../src/lua-bundle/bundle';
import { cachedBundles } from '../../src/lua-bundle/bundle-cache';

const folder = mkdtempSync(path.join(tmpdir(), 'kept-'));
const cache = path.join(folder, 'cache');
mkdirSync(path.join(folder, 'lua'));
afterAll(() => rmSync(folder, { recursive: true }));

const write = (text: string): void => writeFileSync(path.join(folder, 'lua/verb.lua'), `#!lua\n${text}\n`);

test('the cached bundles are made again when a script changes', () => {
  for (const text of ['return 1', 'return 2']) {
    write(text);
    for (let turn = 0; turn < 2; turn++) expect(cachedBundles(folder, cache)).toEqual(bundleScripts(folder));
    // The bundles of earlier scripts are deleted.
    expect(readdirSync(cache)).toHaveLength(1);
  }
});

test('the bundles of unchanged scripts are read from the cache', () => {
  write('return 3');
  cachedBundles(folder, cache);
  const file = path.join(cache, readdirSync(cache)[0] ?? '');
  writeFileSync(file, readFileSync(file, 'utf8').replace('return 3', 'return 4'));
  expect(cachedBundles(folder, cache).get('verb')).toContain('return 4');
});
