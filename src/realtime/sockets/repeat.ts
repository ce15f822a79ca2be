export interface Repeated {
  start(): void;
  /** Resolves when nothing of it is under way any more. */
  stop(): Promise<void>;
}

/** Again and again, `everyMs` after the one before has ended, whatever became of it. */
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
