import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../support/processes';

/**
 * Shifts the clock of Redis, which has no setting for it: a library between Redis and the system adds the seconds in a file.
 * The monotonic clock does not change.
 */
const SOURCE = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
static volatile long *ahead;
static long none;
__attribute__((constructor)) static void map_file(void) {
  const char *name = getenv("REDIS_CLOCK_FILE");
  int file = name ? open(name, O_RDONLY) : -1;
  void *found = file < 0 ? MAP_FAILED : mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
  ahead = found == MAP_FAILED ? &none : found;
}
static long seconds(void) { return ahead ? *ahead : 0; }
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  static int (*real)(struct timeval *, void *);
  if (!real) real = (int (*)(struct timeval *, void *))dlsym(RTLD_NEXT, "gettimeofday");
  int failed = real(now, zone);
  if (now) now->tv_sec += seconds();
  return failed;
}
int clock_gettime(clockid_t which, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int failed = real(which, now);
  if (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE) now->tv_sec += seconds();
  return failed;
}
time_t time(time_t *now) {
  struct timespec is;
  clock_gettime(CLOCK_REALTIME, &is);
  if (now) *now = is.tv_sec;
  return is.tv_sec;
}
`;

export interface RedisClock {
  /** For the Redis whose clock it is. */
  readonly env: Readonly<Record<string, string>>;
  /** From now on the clock is ahead by a number of seconds, or behind. */
  set(aheadSeconds: number): void;
  remove(): void;
}

/** Null where there is no C compiler. */
export function createRedisClock(): RedisClock | null {
  const folder = path.join(ROOT, '.cache');
  const library = path.join(folder, `redis-clock-${process.pid}.so`);
  const [source, file] = [`${library}.c`, `${library}.seconds`];
  mkdirSync(folder, { recursive: true });
  writeFileSync(source, SOURCE);
  const remove = (): void => {
    for (const name of [library, source, file]) rmSync(name, { force: true });
  };
  const { status } = spawnSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']);
  if (status !== 0) {
    remove();
    return null;
  }
  writeFileSync(file, Buffer.alloc(8));
  const handle = openSync(file, 'r+');
  return {
    env: { LD_PRELOAD: library, REDIS_CLOCK_FILE: file },
    set(aheadSeconds) {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(aheadSeconds));
      writeSync(handle, bytes, 0, bytes.length, 0);
    },
    remove() {
      closeSync(handle);
      remove();
    },
  };
}
