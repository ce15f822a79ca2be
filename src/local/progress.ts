const TELL_EVERY_MS = 5_000;

/** The result of something that may take long, with a line every few seconds for whoever waits. */
export async function withProgress<T>(
  what: string,
  say: (line: string) => void,
  work: Promise<T>,
): Promise<T> {
  const startedAtMs = Date.now();
  const timer = setInterval(() => {
    say(`still ${what} (${Math.round((Date.now() - startedAtMs) / 1_000)} s)`);
  }, TELL_EVERY_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
