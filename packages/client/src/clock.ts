import type { Reads } from './reads';

/** The clock of the exchange, which may differ from that of this machine. */
export interface Clock {
  nowMs(): Promise<number>;
  /** Reads it again next time. */
  forget(): void;
}

/** The offset of this machine's clock is measured again this often. */
const OFFSET_MS = 300_000;

export function exchangeClock(time: Reads['time']): Clock {
  let offsetMs = 0;
  let readAtMs = Number.NEGATIVE_INFINITY;
  return {
    async nowMs() {
      const sinceMs = Date.now() - readAtMs;
      // A clock that was set back, or a machine that slept.
      if (sinceMs < 0 || sinceMs > OFFSET_MS) {
        const { timestamp } = await time();
        readAtMs = Date.now();
        offsetMs = timestamp - readAtMs;
      }
      return Date.now() + offsetMs;
    },
    forget: () => {
      readAtMs = Number.NEGATIVE_INFINITY;
    },
  };
}
