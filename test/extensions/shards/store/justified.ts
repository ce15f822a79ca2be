/** A command of a wallet that ran beside others, and how it ended. */
export interface Told {
  /** GIVEN_UP: it changed nothing and said so, with UNAVAILABLE. */
  readonly end: 'DONE' | 'REFUSED' | 'GIVEN_UP';
  /** The change of the wallet's free collateral; below zero for a cancel. */
  readonly takesUnits: number;
}

/**
 * Whether one shard could have answered so: there is an order of the commands that were done, with enough for each, in which the
 * refused one comes when there is too little for it. The order of earlier commands does not change their sum, so sets are searched.
 */
export function isJust(freeUnits: number, all: readonly Told[], refused: Told): boolean {
  if (refused.end !== 'REFUSED') return true;
  const done = all.filter(({ end }) => end === 'DONE');
  const whole = 2 ** done.length - 1;
  const seen = new Set<number>();
  const waiting = [{ set: 0, free: freeUnits, wasRefused: false }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { set, free, wasRefused } = next;
    const isRefused = wasRefused || free < refused.takesUnits;
    const name = set * 2 + Number(isRefused);
    if (seen.has(name)) continue;
    seen.add(name);
    if (set === whole && isRefused) return true;
    for (const [i, { takesUnits }] of done.entries())
      if (Math.floor(set / 2 ** i) % 2 === 0 && takesUnits <= free)
        waiting.push({ set: set + 2 ** i, free: free - takesUnits, wasRefused: isRefused });
  }
  return false;
}
