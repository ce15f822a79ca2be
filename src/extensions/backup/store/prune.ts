import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type BackupHeader, readBackupFile } from './file';

/** The header of a file; null for a file that is no backup. */
async function headerOf(file: string): Promise<BackupHeader | null> {
  try {
    for await (const read of readBackupFile(file)) return 'header' in read ? read.header : null;
  } catch {
    return null;
  }
  return null;
}

/**
 * Deletes the oldest backups in the folder of `file` until `keep` of them are left. Only files of the same exchange with the same ending
 * count, and `file` itself stays. Returns the names of those that were deleted.
 */
export async function pruneBackups(file: string, keep: number): Promise<string[]> {
  const folder = path.dirname(file);
  const own = await headerOf(file);
  const found: { name: string; createdAt: string }[] = [];
  for (const name of await readdir(folder)) {
    if (path.extname(name) !== path.extname(file) || name === path.basename(file)) continue;
    if (!(await stat(path.join(folder, name))).isFile()) continue;
    const header = await headerOf(path.join(folder, name));
    if (!own || header?.exchange !== own.exchange || header.chainId !== own.chainId) continue;
    found.push({ name, createdAt: header.createdAt });
  }
  const old = found
    .sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
    .slice(keep - 1)
    .map(({ name }) => name);
  for (const name of old) await rm(path.join(folder, name));
  return old;
}
