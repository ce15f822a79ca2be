import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../support/processes';

/** A disk whose every sync takes 5 ms. It loses data that was not synced when a process dies. */
const SOURCE = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
static void wait_a_little(void) { usleep(5000); }
int fsync(int fd) { wait_a_little(); return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd); }
int fdatasync(int fd) { wait_a_little(); return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd); }
`;

/** Environment for Redis. Where there is no C compiler, the disk is as it is. */
export function slowDisk(): { readonly env: Readonly<Record<string, string>>; readonly isSlow: boolean } {
  const folder = path.join(ROOT, '.cache');
  const library = path.join(folder, `slow-disk-${process.pid}.so`);
  mkdirSync(folder, { recursive: true });
  const source = `${library}.c`;
  writeFileSync(source, SOURCE);
  const { status } = spawnSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']);
  if (status !== 0) return { env: process.env as Record<string, string>, isSlow: false };
  // Node caches programs by the search path: with another path it searches for this one again.
  const env = { ...process.env, PATH: `${process.env.PATH}:`, LD_PRELOAD: library };
  return { env, isSlow: true };
}
