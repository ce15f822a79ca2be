/** Turns for expensive work: a bounded number at once and in a second, of which one asker has only a part. */
export interface Shares {
  /** Resolves when the turn begins, to the function that ends it. Rejects when too many wait, or the signal says so. */
  begin(asker: string, signal: AbortSignal): Promise<() => void>;
}

export interface SharesOptions {
  readonly atOnce: number;
  readonly atOnceEach: number;
  /** Turns that begin in a second, and the most that begin at once after a pause. */
  readonly perSecond: number;
  readonly burst: number;
  readonly waiting: number;
  readonly waitingEach: number;
}

interface Place {
  take(): void;
  refuse(error: unknown): void;
}

/** Askers that wait have turns one after the other, each the oldest of its own, however many of them one has waiting. */
export function createShares({ atOnce, atOnceEach, waiting, waitingEach, ...pace }: SharesOptions): Shares {
  /** By asker; without those that have none. */
  const running = new Map<string, number>();
  /** The asker that had no turn for longest comes first; without those that do not wait. */
  const queues = new Map<string, Set<Place>>();
  const allowance = createAllowance(pace);
  let [inAll, placesInAll] = [0, 0];
  let timer: NodeJS.Timeout | undefined;

  const runningOf = (asker: string): number => running.get(asker) ?? 0;

  function start(asker: string): () => void {
    inAll++;
    running.set(asker, runningOf(asker) + 1);
    return () => {
      inAll--;
      const left = runningOf(asker) - 1;
      if (left > 0) running.set(asker, left);
      else running.delete(asker);
      takeNext();
    };
  }

  function leave(asker: string, place: Place): void {
    const queue = queues.get(asker);
    if (!queue?.delete(place)) return;
    placesInAll--;
    if (queue.size === 0) queues.delete(asker);
  }

  /** Begins as many turns as may begin now. */
  function takeNext(): void {
    clearTimeout(timer);
    while (inAll < atOnce) {
      const next = [...queues].find(([asker]) => runningOf(asker) < atOnceEach);
      if (!next) return;
      const waitMs = allowance.waitMs();
      if (waitMs > 0) {
        timer = setTimeout(takeNext, Math.ceil(waitMs)).unref();
        return;
      }
      allowance.use();
      const [asker, queue] = next;
      queues.delete(asker);
      queues.set(asker, queue);
      const [place] = queue;
      place?.take();
    }
  }

  /** With one place too many, the newest of the asker with the most places leaves: an asker cannot fill the queue alone. */
  function shorten(asker: string): void {
    const own = queues.get(asker);
    if (!own) return;
    let longest = own;
    if (own.size <= waitingEach) {
      if (placesInAll <= waiting) return;
      for (const queue of queues.values()) if (queue.size > longest.size) longest = queue;
    }
    [...longest].at(-1)?.refuse(new Error('too many wait'));
  }

  return {
    async begin(asker, signal) {
      signal.throwIfAborted();
      return new Promise((resolve, reject) => {
        const abort = (): void => place.refuse(signal.reason);
        const end = (): void => {
          leave(asker, place);
          signal.removeEventListener('abort', abort);
        };
        const place: Place = {
          take() {
            end();
            resolve(start(asker));
          },
          refuse(error) {
            end();
            reject(error);
          },
        };
        signal.addEventListener('abort', abort, { once: true });
        queues.set(asker, (queues.get(asker) ?? new Set()).add(place));
        placesInAll++;
        takeNext();
        shorten(asker);
      });
    },
  };
}

function createAllowance({ perSecond, burst }: Pick<SharesOptions, 'perSecond' | 'burst'>) {
  const eachMs = 1_000 / perSecond;
  /** When all that was used is back. */
  let wholeMs = 0;
  return {
    /** Until one more may begin. */
    waitMs: (): number => Math.max(0, wholeMs - (burst - 1) * eachMs - performance.now()),
    use(): void {
      wholeMs = Math.max(wholeMs, performance.now()) + eachMs;
    },
  };
}
