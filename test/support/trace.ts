/** The trace of an order hash (lua/lib/traces.lua): its first 32 bits and 1, then the next 32 bits less what is above 10^9. */
export const traceOf = (orderHash: string): string =>
  `${Number(orderHash.slice(0, 10)) + 1}${lastOf(orderHash)}`;

/** The last nine digits, which choose the bucket. */
export const lastOf = (orderHash: string): string =>
  String(Number(`0x${orderHash.slice(10, 18)}`) % 1e9).padStart(9, '0');
