/** The trace of an order that has left Redis for the archive; lua/lib/traces.lua describes it, and makes the same. */
interface Trace {
  /** A whole number of up to 62 bits, as text. */
  readonly text: string;
  /** Its last digits, which choose the bucket. */
  readonly last: number;
}

const DECIMAL = 1_000_000_000;
const DIGITS = 9;

export function traceOf(orderHash: string): Trace {
  const first = Number(orderHash.slice(0, 10)) + 1;
  const last = Number(`0x${orderHash.slice(10, 18)}`) % DECIMAL;
  return { text: `${first}${String(last).padStart(DIGITS, '0')}`, last };
}
