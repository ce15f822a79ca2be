/** The place of an order in its batch. */
export interface BatchTurn {
  /** Resolves once every order before this one was sent to the engine or has its result. */
  readonly othersSent: Promise<unknown>;
  /** Resolves once every order before this one has its result. */
  readonly othersDone: Promise<unknown>;
  /** Lets the next order be sent; a result does so, too. */
  readonly sent: () => void;
}

/**
 * Lets the orders of one batch be processed together and reach the engine in their sequence. Sent one right after another, they
 * leave in one write on one connection, and Redis runs them in that order. Without one connection each waits for the result of the
 * one before it.
 */
export function createBatchOrder(
  isOneConnection: boolean,
): <T>(process: (turn: BatchTurn) => Promise<T>) => Promise<T> {
  let allSent: Promise<unknown> = Promise.resolve();
  let allDone: Promise<unknown> = Promise.resolve();
  return (process) => {
    const [othersSent, othersDone] = [allSent, allDone];
    let next = (): void => undefined;
    const isSent = new Promise<void>((resolve) => {
      next = resolve;
    });
    const sent = isOneConnection ? next : (): void => undefined;
    const result = process({ othersSent, othersDone, sent });
    const isDone = result.then(next, next);
    allSent = othersSent.then(() => isSent);
    allDone = othersDone.then(() => isDone);
    return result;
  };
}
