import { useEffect, useRef, useState } from 'preact/hooks';
import { get, Refused } from './api';

export interface Loaded<T> {
  readonly value: T | null;
  readonly error: string | null;
  /** Requests the data again. */
  readonly again: () => void;
}

const wordsOf = (error: unknown): string =>
  error instanceof Refused ? error.message : 'Something broke in this page. Load it again.';

/** The answer of a request, which is sent again when one of `keys` changes, and every `everyMs` if given. */
export function useLoaded<T>(ask: () => Promise<T>, keys: readonly unknown[], everyMs = 0): Loaded<T> {
  const [state, setState] = useState<{ value: T | null; error: string | null }>({ value: null, error: null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isOver = false;
    const load = (): void => {
      ask().then(
        (value) => isOver || setState({ value, error: null }),
        (error: unknown) => isOver || setState((before) => ({ ...before, error: wordsOf(error) })),
      );
    };
    load();
    const timer = everyMs > 0 ? setInterval(load, everyMs) : undefined;
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [...keys, round]);
  return { ...state, again: () => setRound((before) => before + 1) };
}

export interface Action {
  readonly isBusy: boolean;
  readonly error: string | null;
  /** Runs the action, one at a time; returns true when it was done. */
  readonly run: (what: () => Promise<unknown>) => Promise<boolean>;
}

export function useAction(): Action {
  const [state, setState] = useState<{ isBusy: boolean; error: string | null }>({
    isBusy: false,
    error: null,
  });
  const isBusy = useRef(false);
  return {
    ...state,
    run: async (what) => {
      if (isBusy.current) return false;
      isBusy.current = true;
      setState({ isBusy: true, error: null });
      try {
        await what();
        setState({ isBusy: false, error: null });
        return true;
      } catch (error) {
        setState({ isBusy: false, error: wordsOf(error) });
        return false;
      } finally {
        isBusy.current = false;
      }
    },
  };
}

const questions = new Map<string, string>();

/** The questions of markets by id, as far as they are known; a draft has none here. */
export function useQuestions(ids: readonly (string | null)[]): ReadonlyMap<string, string> {
  const [, setRound] = useState(0);
  const unknown = [...new Set(ids)].filter((id) => id !== null && !questions.has(id)).join(' ');
  useEffect(() => {
    for (const id of unknown.split(' ').filter(Boolean))
      get<{ question: string }>(`/markets/${id}`).then(
        ({ question }) => {
          questions.set(id, question);
          setRound((before) => before + 1);
        },
        () => undefined,
      );
  }, [unknown]);
  return questions;
}
