import { iso, isoOrNull } from '../../../wire/prices';

export interface KeyFacts {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly ('read' | 'cancel')[];
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
}

export function presentKey({ id, name, scopes, createdAtMs, expiresAtMs }: KeyFacts) {
  return { id, name, scopes, createdAt: iso(createdAtMs), expiresAt: isoOrNull(expiresAtMs) };
}

/** The only answer that contains the key. */
export const presentNewKey = (facts: KeyFacts, key: string) => ({ ...presentKey(facts), key });
