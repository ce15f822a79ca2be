import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Funds } from '../exchange/chain';
import { bundleSources, luaSources } from './bundle';

/**
 * Returns the bundles of the program in the folder `root`, from `cache` when neither the scripts nor the bundler have changed. Bundling takes half a
 * second, and every process that runs from the sources needs it, among them each test file.
 */
export function cachedBundles(root: string, cache: string, funds: Funds = 'paper'): Map<string, string> {
  const sources = luaSources(root, funds);
  const file = join(cache, `${keyOf(sources)}.json`);
  const kept = read(file);
  if (kept) return kept;
  const bundles = bundleSources(sources);
  keep(cache, file, bundles);
  return bundles;
}

/** A hash of everything on which a bundle depends: the scripts, and the files beside this one. */
function keyOf(sources: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256');
  const bundler = readdirSync(__dirname).map((name) => [name, readFileSync(join(__dirname, name), 'utf8')]);
  for (const [name, text] of [...sources, ...bundler]) hash.update(`${name}\0${text}\0`);
  return hash.digest('hex');
}

function read(file: string): Map<string, string> | null {
  try {
    return new Map(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // The file does not exist, or another process has just removed it.
    return null;
  }
}

/** Other processes may read and write at the same time: a file appears whole, and files of earlier sources are deleted. */
function keep(cache: string, file: string, bundles: ReadonlyMap<string, string>): void {
  mkdirSync(cache, { recursive: true });
  for (const name of readdirSync(cache)) {
    if (name.endsWith('.json')) rmSync(join(cache, name), { force: true });
  }
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, JSON.stringify([...bundles]));
  renameSync(unfinished, file);
}
