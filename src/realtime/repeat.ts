export interface Repeated {
  start(): void;
  stop(): void;
}

/** Again and again, `everyMs` after the one before has ended, whatever became of it. */
export function repeat(everyMs: number, act: () => Promise<void>, onError: (error: Error) => void): Repeated {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const next = (): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      act()
        .catch((error: unknown) => onError(error instanceof Error ? error : new Error(String(error))))
        .finally(next);
    }, everyMs);
  };
  return {
    start: next,
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
