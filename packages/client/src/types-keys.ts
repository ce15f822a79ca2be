import type { IsoTime } from './types';

export type KeyScope = 'read' | 'cancel';

export interface NewApiKey {
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  /** By default the key lasts until it is deleted. */
  readonly expiresAt?: IsoTime | null | undefined;
}

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  readonly createdAt: IsoTime;
  readonly expiresAt: IsoTime | null;
}

export interface CreatedApiKey extends ApiKey {
  /** The bearer itself. */
  readonly key: string;
}
