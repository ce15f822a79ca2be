/**
 * Lets many share the runs of one task: at most one is under way and one is to come, and whoever asks gets a run that
 * began after the question.
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
