import type { AccountNumbers } from './types-live';

/** How far a wallet's private events have come, over all connections. */
export interface AccountPosition {
  /** For the handshake: what the exchange is to resume behind; null asks where the events begin. */
  resume(): { readonly lastAccountSequence: number | null; readonly epoch?: string };
  /** Of the history that the exchange has now. */
  epoch(name: string): void;
  /** The exchange begins here. */
  begin(accountSequence: number): void;
  /** Whether the event is new; `missing` when there are others between it and the last one. */
  take(event: Partial<AccountNumbers>): 'new' | 'known' | 'missing';
  /** For another wallet, perhaps. */
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
      // An exchange that does not number them.
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
