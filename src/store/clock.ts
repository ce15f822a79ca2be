/**
 * Redis' clock as a replica sees it: its own clock plus the offset of the latest script reply. Deadlines and expiries
 * are decided by the scripts; this only spares a round trip for what is plainly past.
 */
export interface Clock {
  now(): number;
  observe(redisMs: number): void;
}

export function createClock(): Clock {
  let offsetMs = 0;
  return {
    now: () => Date.now() + offsetMs,
    observe: (redisMs) => {
      offsetMs = redisMs - Date.now();
    },
  };
}
