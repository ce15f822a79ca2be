import { ExchangeError } from 'ctf-exchange-client';
import { useEffect, useState } from 'preact/hooks';

/** What an address names: known, not there, or not answered for now, with the reason; neither while it is loading. */
export interface Found<T> {
  readonly value: T | null;
  readonly isMissing: boolean;
  /** In words; the page keeps asking. */
  readonly failure: string | null;
}

const RETRY_MS = 1_000;
const RETRY_MS_MAX = 10_000;

/** Only an answer says that there is nothing, or nothing for this reader. */
const isMissing = (error: unknown): boolean =>
  error instanceof ExchangeError && [400, 403, 404, 410, 422].includes(error.status);

/** Why nothing could be loaded, for a part that asks again by itself. */
export const failureWords = (error: unknown): string =>
  error instanceof ExchangeError && error.status > 0
    ? 'The exchange cannot answer right now. The page keeps trying.'
    : 'The exchange cannot be reached. Is this device online? The page keeps trying.';

interface State<T> extends Found<T> {
  readonly key: string;
}

/** Asks for what `key` names until it is known or missing, and again every `everyMs`; null asks for nothing. */
export function useFound<T>(
  key: string | null,
  ask: (key: string) => Promise<T>,
  everyMs?: number,
): Found<T> {
  const [state, setState] = useState<State<T> | null>(null);
  useEffect(() => {
    if (key === null) return;
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let pauseMs = RETRY_MS;
    const look = (): void =>
      void ask(key).then(
        (value) => {
          if (!isCurrent) return;
          pauseMs = RETRY_MS;
          setState({ key, value, isMissing: false, failure: null });
          if (everyMs !== undefined) timer = setTimeout(look, everyMs);
        },
        (error) => {
          if (!isCurrent) return;
          const isGone = isMissing(error);
          setState((before) => ({
            key,
            value: before?.key === key ? before.value : null,
            isMissing: isGone,
            failure: isGone ? null : failureWords(error),
          }));
          if (!isGone) timer = setTimeout(look, pauseMs);
          pauseMs = Math.min(2 * pauseMs, RETRY_MS_MAX);
        },
      );
    look();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [key]);
  return state && state.key === key ? state : { value: null, isMissing: false, failure: null };
}
