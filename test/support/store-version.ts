import { execFileSync } from 'node:child_process';

/** What `redis-server --version` prints; empty where it is not on PATH. */
function versionOnPath(): string {
  try {
    return execFileSync('redis-server', ['--version'], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

const [, major = 0, minor = 0] = (/v=(\d+)\.(\d+)/.exec(versionOnPath()) ?? []).map(Number);

/** Redis 7.2 and every version of Valkey; `STORE=<file> npm run test:store` runs the tests with another one. */
export const hasWaitaof = major > 7 || (major === 7 && minor >= 2);
/** The name of a test says why it is skipped. */
export const NEEDS_WAITAOF = 'Redis 7.2 or Valkey:';
