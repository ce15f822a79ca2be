import type { Sent } from '../support/client';
import type { WireOrder } from '../support/trader';

/** One hostile request and its allowed answers: `status CODE`. */
export interface Row {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly sent: Sent;
  readonly expected: readonly string[];
}

/** The parts of the rows: existing records, and the token of a wallet. */
export interface Victim {
  readonly marketId: string;
  readonly orderHash: string;
  readonly address: string;
  readonly token: string;
  readonly refreshToken: string;
  readonly order: WireOrder;
  readonly adminToken: string;
}

export const row = (
  name: string,
  method: string,
  path: string,
  sent: Sent,
  ...expected: readonly string[]
): Row => ({ name, method, path, sent, expected });

/** For names of tests: unprintable characters as escapes, long texts cut. */
export const shown = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  const plain = text.replace(
    /[^\x20-\x7e]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return plain.length > 40 ? `${plain.slice(0, 37)}...` : plain;
};

export const INVALID = '400 INVALID_REQUEST';
export const BAD_JSON = '400 INVALID_JSON';
