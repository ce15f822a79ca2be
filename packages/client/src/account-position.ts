import type { AccountNumbers } from './types-live';

/** A wallet's position in its private events, over all connections. */
export interface AccountPosition {
  /** Member of the handshake: the number after which the exchange should resume; null requests the present number. */
  resume(): { readonly lastAccountSequence: number | null; readonly epoch?: string };
  /** Notes the present epoch of the exchange. */
  epoch(name: string): void;
  /** Notes where the exchange begins. */
  begin(accountSequence: number): void;
  /** Whether the event is new; `missing` when there are others between it and the last one. */
  take(event: Partial<AccountNumbers>): 'new' | 'known' | 'missing';
  /** Starts again, perhaps for another wallet. */
  forget(): void;
}

export function createAccountPosition(): AccountPosition {
  let last: number | null = null;
  let lastEpoch: string | null = null;
  let epochNow: string | null = null;
  return {
    resume: () => ({ lastAccountSequence: last, ...(lastEpoch === null ? {} : { epoch: lastEpoch }) }),
    epoch: (name) => {
      epochNow = name;
      lastEpoch ??= name;
    },
    begin: (accountSequence) => {
      last = accountSequence;
      lastEpoch = epochNow;
    },
    take: ({ accountSequence, previousAccountSequence }) => {
      // An exchange that does not number its events.
      if (accountSequence === undefined || previousAccountSequence === undefined) return 'new';
      if (last !== null && accountSequence <= last) return 'known';
      if (last !== null && previousAccountSequence > last) return 'missing';
      last = accountSequence;
      return 'new';
    },
    forget: () => {
      last = null;
    },
  };
}
