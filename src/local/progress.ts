const TELL_EVERY_MS = 1_000;

/**
 * Waits for a result that may take long. On a terminal it shows one line that counts the seconds and disappears at the end;
 * in a log it shows none, because the line would be outdated at once.
 */
export async function withProgress<T>(what: string, work: Promise<T>): Promise<T> {
  const { stdout } = process;
  if (!stdout.isTTY) return work;
  const startedAtMs = performance.now();
  const timer = setInterval(() => {
    stdout.write(`\r${what} (${Math.round((performance.now() - startedAtMs) / 1_000)} s)`);
  }, TELL_EVERY_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    stdout.write('\r\u001b[K');
  }
}
