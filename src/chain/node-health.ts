/** Why a node is set aside: it fails, answers late when others do not, is behind their newest block, or says otherwise than a majority. */
export type Aside = 'FAILS' | 'LATE' | 'BEHIND' | 'CONTRADICTS';

/** What this process has seen of a node. */
export interface NodeHealth {
  /** Requests that were not answered, answered wrongly, or too late, since the last one that was answered in time. */
  readonly failuresInARow: number;
  readonly failures: number;
  readonly answers: number;
  /** Answers that a majority contradicted. */
  readonly contradicted: number;
  /** The value of the last answer; null before the first. */
  readonly latencyMs: number | null;
  /** Null for a node that is asked like the others. A node that is set aside is asked last, and looked at again after a rest. */
  readonly aside: Aside | null;
}

export interface HealthRecord {
  readonly seen: NodeHealth;
  /** Whether the others are asked first. */
  rests(): boolean;
  /** An answer, also one that is an error; it is in time when it came within LATE_MS. */
  answered(latencyMs: number, isInTime: boolean): void;
  failed(why: 'FAILS' | 'LATE'): void;
  /** A majority says otherwise. */
  contradicted(): void;
  /** A majority says the same. */
  agreed(): void;
  /** Its newest block, in comparison with that of a majority. */
  compared(isBehind: boolean): void;
}

/** A node is late when it has not answered after this time, and others have. */
export const LATE_MS = 500;
const FAILURES_BEFORE_REST = 3;
const REST_MS = 1_000;
const REST_MS_MAX = 30_000;
/** A node catches up within seconds, or stands still. */
const BEHIND_REST_MS = 5_000;

export function createHealthRecord(onAside: (why: Aside | null) => void): HealthRecord {
  const seen = {
    failuresInARow: 0,
    failures: 0,
    answers: 0,
    contradicted: 0,
    latencyMs: null as number | null,
    aside: null as Aside | null,
  };
  let restsUntil = 0;

  function setAside(why: Aside, restMs: number): void {
    restsUntil = Math.max(restsUntil, performance.now() + restMs);
    if (seen.aside === why) return;
    seen.aside = why;
    onAside(why);
  }

  /** Each reason ends by what proves it wrong. */
  function endIf(...reasons: readonly Aside[]): void {
    if (seen.aside === null || !reasons.includes(seen.aside)) return;
    restsUntil = 0;
    seen.aside = null;
    onAside(null);
  }

  return {
    seen,
    rests: () => restsUntil > performance.now(),
    answered(latencyMs, isInTime) {
      seen.answers++;
      seen.latencyMs = latencyMs;
      if (!isInTime) return;
      seen.failuresInARow = 0;
      endIf('FAILS', 'LATE');
    },
    failed(why) {
      seen.failures++;
      seen.failuresInARow++;
      const beyond = seen.failuresInARow - FAILURES_BEFORE_REST;
      if (beyond >= 0) setAside(why, Math.min(REST_MS * 2 ** Math.min(beyond, 10), REST_MS_MAX));
    },
    contradicted() {
      seen.contradicted++;
      setAside('CONTRADICTS', REST_MS_MAX);
    },
    agreed() {
      if (restsUntil <= performance.now()) endIf('CONTRADICTS');
    },
    compared(isBehind) {
      if (isBehind) setAside('BEHIND', BEHIND_REST_MS);
      else endIf('BEHIND');
    },
  };
}
