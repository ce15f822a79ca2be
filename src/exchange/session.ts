/** The result of using a refresh token: src/auth/sessions.ts has the rules, src/store/people/sessions.ts executes them. */
export type Rotation =
  /** Pair `generation`, made at `atMs`: now, or for `replayed` perhaps earlier. */
  | { readonly kind: 'rotated' | 'replayed'; readonly generation: number; readonly atMs: number }
  /** The refresh token was used before: this call or an earlier one ended the session. */
  | { readonly kind: 'reused' }
  /** The session was never opened, was logged out, or has expired. */
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
