import { TRACES } from './layout';

/** The two parts of a trace: the digits before the last ones, up to 2^32, and the last ones, which choose the bucket. */
export interface TraceParts {
  readonly first: number;
  readonly last: number;
}

/** The trace of an order that has left Redis for the archive; lua/lib/traces.lua describes it, and makes the same. */
interface Trace extends TraceParts {
  /** A whole number of up to 62 bits, as text. */
  readonly text: string;
}

const DECIMAL = 1_000_000_000;
const DIGITS = 9;
const HEAD_BYTES = 8;
/** Of a market's field of traces, TRACES and its stamp: one without a stamp stands for no certain set. */
export const STAMPED_BYTES = TRACES.bytes + 8;

export function traceOf(orderHash: string): Trace {
  const first = Number(orderHash.slice(0, 10)) + 1;
  const last = Number(`0x${orderHash.slice(10, 18)}`) % DECIMAL;
  return { text: `${first}${String(last).padStart(DIGITS, '0')}`, first, last };
}

/** By the text of a trace. */
export function partsOfText(text: Buffer): TraceParts {
  const digits = text.toString('latin1');
  return { first: Number(digits.slice(0, -DIGITS)), last: Number(digits.slice(-DIGITS)) };
}

/** The traces of hashes of which only the first bytes are there, one behind the other. */
export function partsOfHeads(heads: Buffer): TraceParts[] {
  return Array.from({ length: heads.length / HEAD_BYTES }, (_, i) => ({
    first: heads.readUInt32BE(i * HEAD_BYTES) + 1,
    last: heads.readUInt32BE(i * HEAD_BYTES + 4) % DECIMAL,
  }));
}
