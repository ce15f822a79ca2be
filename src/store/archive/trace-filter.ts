import type { TraceParts } from '../records/trace';

/** A set of traces that may say of one which is not in it that it is, and never the other way round: a Bloom filter. */
export interface TraceFilter {
  readonly bytes: number;
  add(trace: TraceParts): void;
  /** False: it was never added. */
  mayHave(trace: TraceParts): boolean;
}

/** With so many bits for each trace, and as many of them set as here, it is wrong about one in eighty. */
const [BITS_PER_TRACE, BITS_SET] = [10, 4] as const;

/** The bytes of a filter for so many traces. */
export const filterBytes = (traces: number): number => Math.ceil((traces * BITS_PER_TRACE) / 8);

/** It takes more traces than it is made for, too, and is then wrong more often. */
export function createTraceFilter(traces: number): TraceFilter {
  const bytes = new Uint8Array(filterBytes(traces));
  const size = bytes.length * 8;

  /** Both parts are bytes of a hash, so they need no other hashing. The sums stay below 2^35. */
  const bitOf = ({ first, last }: TraceParts, i: number): number => (first + i * last) % size;

  function add(trace: TraceParts): void {
    for (let i = 0; i < BITS_SET; i++) {
      const bit = bitOf(trace, i);
      bytes[bit >>> 3] = (bytes[bit >>> 3] as number) | (1 << (bit & 7));
    }
  }

  function mayHave(trace: TraceParts): boolean {
    for (let i = 0; i < BITS_SET; i++) {
      const bit = bitOf(trace, i);
      if (((bytes[bit >>> 3] as number) & (1 << (bit & 7))) === 0) return false;
    }
    return true;
  }

  return { bytes: bytes.length, add, mayHave };
}
