import { join } from 'node:path';
import type { Funds } from '../../../src/exchange/chain';
import { bundleSources, luaSources } from '../../../src/lua-bundle/bundle';
import { READ_STATE, READ_STATE_SOURCE } from './stored';

/** A change to the Lua sources, wherever `from` occurs; it must occur somewhere. */
export interface Patch {
  /** Only in this file, by its path below lua/ or below the folder of an extension. */
  readonly file?: string;
  readonly from: string | RegExp;
  readonly to: string;
}

export const CLOCK_KEY = '{x0}:clock';
const ROOT = join(__dirname, '..', '..', '..');

/** The scripts read their time from CLOCK_KEY, so that a run repeats exactly. */
export const FAKE_CLOCK: Patch = {
  file: 'lib/outbox.lua',
  from: 'return time[1] * 1000 + math.floor(time[2] / 1000)',
  to: `return tonumber(redis.call('GET', '${CLOCK_KEY}'))`,
};

export const staleMaxPatch = (most: number): Patch => ({
  from: /STALE_MAX = 200\b/,
  to: `STALE_MAX = ${most}`,
});

function apply(sources: Map<string, string>, { file, from, to }: Patch): void {
  let changes = 0;
  for (const [name, source] of sources) {
    if (file !== undefined && name !== file) continue;
    const changed = source.replace(from, () => to);
    if (changed === source) continue;
    changes++;
    sources.set(name, changed);
  }
  if (changes === 0) throw new Error(`nothing to patch in ${file ?? 'lua'}: ${from}`);
}

/** Throws unless the patches find their places in the sources. */
export function findPlaces(patches: readonly Patch[], funds: Funds = 'paper'): void {
  const sources = luaSources(ROOT, funds);
  for (const patch of patches) apply(sources, patch);
}

const built = new Map<string, Map<string, string>>();

/** The scripts of a patched copy of the sources, and READ_STATE. Throws when a patch changes nothing. */
export function patchedScripts(patches: readonly Patch[], funds: Funds = 'paper'): Map<string, string> {
  const name = JSON.stringify([funds, ...patches.map(({ file, from, to }) => [file, String(from), to])]);
  const known = built.get(name);
  if (known) return known;
  const sources = luaSources(ROOT, funds);
  for (const patch of patches) apply(sources, patch);
  const scripts = bundleSources(sources).set(READ_STATE, READ_STATE_SOURCE);
  built.set(name, scripts);
  return scripts;
}
