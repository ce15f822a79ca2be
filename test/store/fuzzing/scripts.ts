import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleScripts } from '../../../src/store/bundle';
import { READ_STATE, READ_STATE_SOURCE } from './stored';

/** A change to a Lua source: `from` must be there. */
export interface Patch {
  /** Below lua/. */
  readonly file: string;
  readonly from: string | RegExp;
  readonly to: string;
}

export const CLOCK_KEY = '{x0}:clock';
const LUA = join(__dirname, '..', '..', '..', 'lua');

/** The scripts read their time from CLOCK_KEY, so that a run repeats exactly. */
export const FAKE_CLOCK: Patch = {
  file: 'lib/outbox.lua',
  from: "local time = redis.call('TIME')",
  to: `local ms = tonumber(redis.call('GET', '${CLOCK_KEY}'))\n  local time = { math.floor(ms / 1000), ms % 1000 * 1000 }`,
};

export const staleMaxPatch = (most: number): Patch => ({
  file: 'place_order.lua',
  from: /STALE_MAX = 200\b/,
  to: `STALE_MAX = ${most}`,
});

const built = new Map<string, Map<string, string>>();

/** The scripts of a patched copy of lua/, and READ_STATE. Throws when a patch changes nothing. */
export function patchedScripts(patches: readonly Patch[]): Map<string, string> {
  const name = JSON.stringify(patches.map(({ file, from, to }) => [file, String(from), to]));
  const known = built.get(name);
  if (known) return known;
  const folder = mkdtempSync(join(tmpdir(), 'patched-lua-'));
  try {
    cpSync(LUA, folder, { recursive: true });
    for (const { file, from, to } of patches) {
      const source = readFileSync(join(folder, file), 'utf8');
      const changed = source.replace(from, () => to);
      if (changed === source) throw new Error(`nothing to patch in ${file}: ${from}`);
      writeFileSync(join(folder, file), changed);
    }
    const scripts = bundleScripts(folder).set(READ_STATE, READ_STATE_SOURCE);
    built.set(name, scripts);
    return scripts;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
