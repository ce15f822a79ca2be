const SECOND_MS = 1_000;

/** The text of the Date header, made once a second by the clock of Redis. */
export function createDate(nowMs: () => number): () => string {
  let second = Number.NaN;
  let text = '';
  return () => {
    const current = Math.floor(nowMs() / SECOND_MS);
    if (current !== second) {
      second = current;
      text = new Date(current * SECOND_MS).toUTCString();
    }
    return text;
  };
}
