import type { Walk } from './walk';

/** The bots' opinion of the value of Yes, in pips. */
export interface Opinion {
  pips(): number;
  /** A trade at this Yes price moves the opinion a little, for a while. */
  follow(yesPips: number): void;
}

const PIPS = 10_000;
/** The share of a trade's distance by which the opinion moves. */
const FOLLOW = 0.1;
/** Limits, so that a single trader can lead the bots only a little and for a short time. */
const FOLLOW_PIPS_MAX = 100;
const FORGET_MS = 60_000;

/** The walk as time passes. */
export function createOpinion(walk: Walk): Opinion {
  let atMs = Date.now();
  let followed = 0;
  let followedAtMs = atMs;

  function believed(): number {
    const nowMs = Date.now();
    const price = walk.advance((nowMs - atMs) / 1_000);
    atMs = nowMs;
    return price * PIPS;
  }
  const following = (): number => followed * Math.exp(-(Date.now() - followedAtMs) / FORGET_MS);

  return {
    pips: () => Math.min(PIPS - 1, Math.max(1, Math.round(believed() + following()))),
    follow(yesPips) {
      const next = following() + FOLLOW * (yesPips - believed());
      followed = Math.max(-FOLLOW_PIPS_MAX, Math.min(FOLLOW_PIPS_MAX, next));
      followedAtMs = Date.now();
    },
  };
}
