import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Patch, patchedScripts } from '../store/fuzzing/scripts';
import { ROOT } from '../support/processes';

interface ModulePatch {
  readonly file: string;
  readonly from: string | RegExp;
  readonly to: string;
}

/** A bug: changes to a copy of lua/, for paper funds or for those on a chain, or of built modules. */
export interface Bug {
  readonly lua?: readonly Patch[];
  readonly chainLua?: readonly Patch[];
  readonly modules?: readonly ModulePatch[];
}

/** Returns the text of a built module with the patch in it. Throws when the patch changes nothing. */
function changedModule({ file, from, to }: ModulePatch, program: string): string {
  const source = readFileSync(path.join(program, file), 'utf8');
  const changed = source.replace(from, () => to);
  if (changed === source) throw new Error(`nothing to patch in ${file}: ${from}`);
  return changed;
}

/** Throws when the patch finds no place in the last build. */
export const findInModule = (patch: ModulePatch): void => {
  changedModule(patch, path.join(ROOT, 'dist'));
};

function writeScripts(folder: string, scripts: ReadonlyMap<string, string>): void {
  for (const [name, source] of scripts) writeFileSync(path.join(folder, `${name}.lua`), source);
}

/** A copy of the build with a bug in it, removed when the story has ended. */
export async function withBug<T>(bug: Bug, story: (program: string) => Promise<T>): Promise<T> {
  const parent = path.join(ROOT, '.cache');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(path.join(parent, 'planted-'));
  const program = path.join(folder, 'dist');
  try {
    cpSync(path.join(ROOT, 'dist'), program, { recursive: true });
    for (const beside of ['package.json', 'contracts/artifacts'])
      cpSync(path.join(ROOT, beside), path.join(folder, beside), { recursive: true });
    if (bug.lua) writeScripts(path.join(program, 'lua'), patchedScripts(bug.lua));
    if (bug.chainLua) writeScripts(path.join(program, 'lua-chain'), patchedScripts(bug.chainLua, 'chain'));
    for (const patch of bug.modules ?? [])
      writeFileSync(path.join(program, patch.file), changedModule(patch, program));
    return await story(program);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
