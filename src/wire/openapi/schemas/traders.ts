import { type Json, object, ref } from '../schema';

/** Profiles, comments, and a wallet's own books. */
export const TRADER_SCHEMAS: Readonly<Record<string, Json>> = {
  Nonce: object({ nonce: ref('Uint256') }),
};
