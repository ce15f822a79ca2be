import type { Decimal } from './types';

/** Limits in GET /config. */
export interface ExchangeLimits {
  readonly bodyBytes: number;
  readonly batchBytes: number;
  readonly batchOrders: number;
  readonly cancelHashes: number;
  readonly maxOrderSize: Decimal;
  /** Limits of the amounts in a signed order. */
  readonly collateralDecimals: number;
  /** Null when limits are off. */
  readonly rates: Readonly<
    Record<
      string,
      { readonly requests: number; readonly seconds: number; readonly burst: number; readonly by: string }
    >
  > | null;
  /** Points of the rates: of a submission, and how many rows of a page are one of the reads. */
  readonly costs: {
    readonly order: number;
    readonly dryRun: number;
    readonly refusedFok: number;
    readonly rowsPerPoint: number;
  };
  /** Null when limits are off. */
  readonly sockets: {
    readonly perIp: number;
    readonly messagesPerSecond: number;
    readonly bytesPerSecond: number;
    readonly refusals: number;
    /** Order messages of one socket without an acknowledgement. */
    readonly ordersUnderWay: number;
  } | null;
  readonly queryMembers: number;
}
