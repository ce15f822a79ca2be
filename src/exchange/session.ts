/** The outcome of a refresh token's use: src/auth/sessions.ts has the rules, src/store/people/sessions.ts executes them. */
export type Rotation =
  /** Pair `generation`, made at `atMs`: now, or, `replayed`, when this refresh token was first used. */
  | { readonly kind: 'rotated' | 'replayed'; readonly generation: number; readonly atMs: number }
  /** The refresh token was used before: the session is over, by this call or an earlier one. */
  | { readonly kind: 'reused' }
  /** No such session: never opened, logged out, or past its time. */
  | { readonly kind: 'gone' };

/** The tokens that a wallet receives when it signs in or refreshes. */
export interface TokenPair {
  /** Checksummed. */
  readonly address: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly tokenType: 'Bearer';
  /** Seconds. */
  readonly expiresIn: number;
  readonly refreshExpiresIn: number;
}
