import { ExchangeError } from 'ctf-exchange-client';
import type { Random } from './random';

export interface LoopOptions {
  readonly everyMs: number;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Receives the refusals of the exchange. */
  readonly onRefusal: (error: ExchangeError) => void;
}

const BACK_OFF_MS = 1_000;
const BACK_OFF_MS_MAX = 15_000;

/** The book, or another order of the wallet, changed in between, which is usual in trading. */
const TRADING: ReadonlySet<string> = new Set(['FOK_NOT_FILLED', 'INSUFFICIENT_BALANCE']);

/**
 * Repeats a task at about this pace until the signal. After a refusal, the loop logs it and continues more slowly; any
 * other error is a bug and ends the loop.
 */
export async function loop(act: () => Promise<void>, options: LoopOptions): Promise<void> {
  const { everyMs, random, signal, onRefusal } = options;
  let backOffMs = BACK_OFF_MS;
  while (!signal.aborted) {
    let waitMs = everyMs * (0.5 + random());
    try {
      await act();
      backOffMs = BACK_OFF_MS;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ExchangeError)) throw error;
      if (!TRADING.has(error.code)) {
        onRefusal(error);
        waitMs = Math.max(error.retryAfterMs ?? 0, backOffMs);
        backOffMs = Math.min(2 * backOffMs, BACK_OFF_MS_MAX);
      }
    }
    await pause(waitMs, signal);
  }
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (signal.aborted) done();
    else signal.addEventListener('abort', done);
  });
}
