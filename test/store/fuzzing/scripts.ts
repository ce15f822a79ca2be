import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleScripts } from '../../../src/store/bundle';
import { READ_STATE, READ_STATE_SOURCE } from './stored';

/** A change to the Lua sources, wherever `from` stands in them; it must stand somewhere. */
export interface Patch {
  /** Only in this file below lua/. */
  readonly file?: string;
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
  from: /STALE_MAX = 200\b/,
  to: `STALE_MAX = ${most}`,
});

function apply(folder: string, { file, from, to }: Patch): void {
  const names = readdirSync(folder, { recursive: true }).map(String);
  let changes = 0;
  for (const name of names.filter((path) => (file ? path === file : path.endsWith('.lua')))) {
    const source = readFileSync(join(folder, name), 'utf8');
    const changed = source.replace(from, () => to);
    if (changed === source) continue;
    changes++;
    writeFileSync(join(folder, name), changed);
  }
  if (changes === 0) throw new Error(`nothing to patch in ${file ?? 'lua'}: ${from}`);
}

const built = new Map<string, Map<string, string>>();

/** The scripts of a patched copy of lua/, and READ_STATE. Throws when a patch changes nothing. */
export function patchedScripts(patches: readonly Patch[]): Map<string, string> {
  const name = JSON.stringify(patches.map(({ file, from, to }) => [file, String(from), to]));
  const known = built.get(name);
  if (known) return known;
  const folder = mkdtempSync(join(tmpdir(), 'patched-lua-'));
  try {
    cpSync(LUA, folder, { recursive: true });
    for (const patch of patches) apply(folder, patch);
    const scripts = bundleScripts(folder).set(READ_STATE, READ_STATE_SOURCE);
    built.set(name, scripts);
    return scripts;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
