/**
 * Lets many callers share the runs of one task: at most one run is in progress and one is waiting, and a caller receives
 * the result of a run that began after its call.
 */
export function coalesce<T>(task: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | null = null;
  let next: Promise<T> | null = null;

  function start(): Promise<T> {
    const run = task();
    current = run;
    const done = (): void => {
      if (current === run) current = null;
    };
    run.then(done, done);
    return run;
  }

  return () => {
    if (!current) return start();
    const begin = (): Promise<T> => {
      next = null;
      return start();
    };
    next ??= current.then(begin, begin);
    return next;
  };
}
