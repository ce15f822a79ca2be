import type { Market, OutcomeIndex } from 'ctf-exchange-client';

export type Named = { readonly outcomes?: Market['outcomes'] };

const PLAIN = ['Yes', 'No'] as const;

/** The name of an outcome in its market; before the market is known, Yes or No. */
export const nameOf = (market: Named | null | undefined, index: OutcomeIndex): string =>
  market?.outcomes?.[index]?.name ?? PLAIN[index];

export const namesOf = (market: Named | null | undefined): readonly [string, string] => [
  nameOf(market, 0),
  nameOf(market, 1),
];
