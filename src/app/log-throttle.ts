import type { Logger } from '../log';

export type Warn = (facts: Readonly<Record<string, unknown>>, what: string) => void;

/** A message that comes again and again is written so often. */
const EVERY_MS = 10_000;
/** When there are more different messages, all are forgotten, and each is written again at once. */
const MESSAGES_MAX = 100;

/**
 * Warns of what may repeat many times a second while something is away: at once, and then at most every ten seconds, with the number
 * of times that it was left out.
 */
export function createLogThrottle(
  log: Pick<Logger, 'warn'>,
  now: () => number = () => performance.now(),
): Warn {
  const seen = new Map<string, { writtenAtMs: number; leftOut: number }>();
  return (facts, what) => {
    const key = JSON.stringify([what, facts]);
    const last = seen.get(key);
    if (last && now() - last.writtenAtMs < EVERY_MS) {
      last.leftOut++;
      return;
    }
    if (seen.size >= MESSAGES_MAX) seen.clear();
    seen.set(key, { writtenAtMs: now(), leftOut: 0 });
    log.warn(last && last.leftOut > 0 ? { ...facts, leftOut: last.leftOut } : facts, what);
  };
}
