import { CLAIM_LIMITS, type ClaimLimits } from '../../src/store/archive/trace-claims';

/** Each order has its market read, and its filter filled at once. */
export const EAGER: ClaimLimits = {
  ...CLAIM_LIMITS,
  ...{ refreshMs: 0, fillMs: 0, ordersPerReading: 1, tracesPerOrder: Number.POSITIVE_INFINITY },
};
