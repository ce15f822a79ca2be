/** Turns for expensive work: a bounded number at once, of which one asker has only a part. */
export interface Shares {
  /** Resolves when the turn begins, to the function that ends it. Rejects when too many wait, or the signal says so. */
  begin(asker: string, signal: AbortSignal): Promise<() => void>;
}

interface SharesOptions {
  readonly atOnce: number;
  readonly atOnceEach: number;
  readonly waiting: number;
  readonly waitingEach: number;
}

interface Waiting {
  readonly asker: string;
  readonly take: () => void;
}

export function createShares({ atOnce, atOnceEach, waiting, waitingEach }: SharesOptions): Shares {
  /** By asker; without those that have none. */
  const running = new Map<string, number>();
  const queue = new Set<Waiting>();
  let inAll = 0;

  const runningOf = (asker: string): number => running.get(asker) ?? 0;
  const mayRun = (asker: string): boolean => inAll < atOnce && runningOf(asker) < atOnceEach;
  const waitingOf = (asker: string): number => [...queue].filter((one) => one.asker === asker).length;

  function start(asker: string): () => void {
    inAll++;
    running.set(asker, runningOf(asker) + 1);
    return () => end(asker);
  }

  function end(asker: string): void {
    inAll--;
    const left = runningOf(asker) - 1;
    if (left > 0) running.set(asker, left);
    else running.delete(asker);
    for (const one of queue) {
      if (!mayRun(one.asker)) continue;
      one.take();
      return;
    }
  }

  const turnOf = (asker: string, signal: AbortSignal): Promise<() => void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        queue.delete(place);
        reject(signal.reason);
      };
      const place: Waiting = {
        asker,
        take: () => {
          queue.delete(place);
          signal.removeEventListener('abort', leave);
          resolve(start(asker));
        },
      };
      queue.add(place);
      signal.addEventListener('abort', leave, { once: true });
    });

  return {
    async begin(asker, signal) {
      signal.throwIfAborted();
      if (mayRun(asker)) return start(asker);
      if (queue.size >= waiting || waitingOf(asker) >= waitingEach) throw new Error('too many wait');
      return turnOf(asker, signal);
    },
  };
}
