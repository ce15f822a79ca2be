/** Every limit there is, in one table; GET /config tells it. A limit is shared by all replicas unless it is a socket's own. */

export interface Rate {
  readonly points: number;
  readonly durationSec: number;
  /** On top of the points, after a quiet moment. */
  readonly burst: number;
  readonly by: 'ip' | 'maker' | 'wallet';
  /** The name of the counted requests, for people. */
  readonly what: string;
}

const rate = (by: Rate['by'], points: number, durationSec: number, what: string, burst = 0): Rate => ({
  points,
  durationSec,
  burst,
  by,
  what,
});

/** By bucket: the names appear in headers, as `scope` of a refusal and in GET /config. */
export const LIMITS = {
  /** ROWS_PER_POINT is the cost of a page. */
  reads: rate('ip', 100, 1, 'reads'),
  /** SUBMISSION_COSTS has the cost of each. */
  submissions: rate('ip', 200, 1, 'submissions', 200),
  orders: rate('maker', 50, 1, 'orders', 50),
  cancels: rate('wallet', 100, 1, 'cancels', 100),
  'new-wallets': rate('ip', 60, 60, 'new wallets'),
  comments: rate('wallet', 5, 60, 'comments'),
  'comments-by-ip': rate('ip', 30, 60, 'comments'),
  signIn: rate('ip', 10, 60, 'sign-in requests'),
  'admin-tokens': rate('ip', 10, 60, 'wrong admin tokens'),
} as const satisfies Record<string, Rate>;

export type Bucket = keyof typeof LIMITS;

/** A page costs a point for each so many rows asked for. */
export const ROWS_PER_POINT = 50;
/** Points of a submission; a refused FOK has walked the book for nothing, a wrong signature is the dearest check of all. */
export const SUBMISSION_COSTS = { order: 1, dryRun: 10, refusedFok: 5, wrongSignature: 5 } as const;

export const SOCKET_LIMITS = {
  /** Open sockets of one IP. */
  perIp: 100,
  /** Of one socket, whatever they are. */
  messagesPerSecond: 50,
  bytesPerSecond: 64_000,
  /** After so many a socket is cut. */
  refusals: 100,
  /**
   * The points of all sockets of an address at one process, new sockets included. Nothing is refused for it but sockets
   * that are opened in debt: those that are open are not read until the debt is paid.
   */
  pace: {
    pointsPerSecond: 2_000,
    /** A hundred sockets may come at once, and follow fifty markets each. */
    burst: 8_000,
    /** Points of a socket that is opened, or of a request that might have opened one. */
    upgrade: 10,
    /** Points of what counts as a message. */
    message: 1,
    /** Each so many bytes that are read cost a point, also when they are no message. */
    bytesPerPoint: 512,
    /** Points of a socket that had to be cut. */
    cut: 1_000,
    /** An opening waits this long at most for the debt to be paid, before it is refused. */
    holdMs: 1_000,
    /** More than what comes back in this time is never owed. */
    debtMs: 5_000,
  },
} as const;

/**
 * The pace of an address at one process, for all its requests: every request costs a point, and more when it is
 * refused. The requests of an address in debt are held until it is paid, and served one after the other.
 */
export const PACE = {
  pointsPerSecond: 1_000,
  burst: 1_000,
  request: 1,
  /** Points on top of the request's own when it is refused, and when it is refused as RATE_LIMITED. */
  refused: 3,
  rateLimited: 9,
  /** A body costs a point for each so many bytes. */
  bytesPerPoint: 4_096,
  /** And for each so many pieces: a chunk of one byte is a piece. */
  piecesPerPoint: 64,
  /** Points of a connection that is opened, where no proxy is in front. */
  connection: 1,
  /** Points of a connection that is cut: the pieces its buffer still holds are taken apart all the same. */
  cut: 100,
  /** A request waits this long at most for its turn, and is refused then. */
  holdMs: 5_000,
  /** More than what comes back in this time is never owed: an address is slowed down, not shut out. */
  debtMs: 1_000,
} as const;

/** A submission costs its address a point for each so many bytes, if those are more than its orders. */
export const BYTES_PER_SUBMISSION = 4_096;

export const QUERY_MEMBERS_MAX = 32;
/** Requests of one connection that are served at once; what is pipelined behind them waits unread. */
export const PIPELINED_MAX = 8;
