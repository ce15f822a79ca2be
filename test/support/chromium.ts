import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

/** A browser of this machine: CHROMIUM_PATH, or one on the PATH. */
export function findChromium(): string | null {
  const { CHROMIUM_PATH: given, PATH = '' } = process.env;
  if (given) return given;
  const files = NAMES.flatMap((name) => PATH.split(path.delimiter).map((folder) => path.join(folder, name)));
  return files.find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** For a test or a hook: a browser draws a page in a moment, but on a busy machine in many seconds. */
const TEST_MS_MAX = 600_000;

/** Without a browser its tests are skipped with a message; in CI there must be one. */
export function describeInBrowser(name: string, tests: () => void): void {
  jest.setTimeout(TEST_MS_MAX);
  (hasBrowser() ? describe : describe.skip)(name, tests);
}

function hasBrowser(): boolean {
  if (findChromium() !== null || process.env.CI) return true;
  process.stderr.write('SKIP: no chromium on the PATH (apt-get install chromium, or set CHROMIUM_PATH)\n');
  return false;
}

export function startChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error('no chromium: install it, or set CHROMIUM_PATH');
  // A container has no user namespace for its sandbox; it opens only our own pages.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}
