export interface Repeated {
  start(): void;
  /** Resolves when no run is in progress. */
  stop(): Promise<void>;
}

/** Repeats a task `everyMs` after its last run ended, also after a failure. */
export function repeat(everyMs: number, act: () => Promise<void>, onError: (error: Error) => void): Repeated {
  let timer: NodeJS.Timeout | undefined;
  let underway: Promise<void> = Promise.resolve();
  let stopped = false;
  const next = (): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      underway = act()
        .catch((error: unknown) => onError(error instanceof Error ? error : new Error(String(error))))
        .finally(next);
    }, everyMs);
  };
  return {
    start: next,
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      return underway;
    },
  };
}
