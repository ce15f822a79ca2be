/** Every limit, in one table, which GET /config shows. All replicas share a limit, unless it belongs to one socket. */

export interface Rate {
  readonly points: number;
  readonly durationSec: number;
  /** Points added to the allowance after a pause. */
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
  'cancels-by-ip': rate('ip', 300, 1, 'cancels', 300),
  'new-wallets': rate('ip', 60, 60, 'new wallets'),
  comments: rate('wallet', 5, 60, 'comments'),
  'comments-by-ip': rate('ip', 30, 60, 'comments'),
  /** A comment is kept as long as its market. */
  'comment-bytes': rate('ip', 250_000, 86_400, 'bytes of comments'),
  /** By address and wallet, because many people may share an address. */
  signIn: rate('wallet', 10, 60, 'sign-in requests'),
  'sign-ins-by-ip': rate('ip', 100, 60, 'sign-in requests'),
  'admin-tokens': rate('ip', 10, 60, 'wrong admin tokens'),
} as const satisfies Record<string, Rate>;

export type Bucket = keyof typeof LIMITS;

/** The number of requested rows of a page that cost a point. */
export const ROWS_PER_POINT = 50;
/**
 * Points of a submission. A refused FOK has walked the book for nothing; a wrong signature is the most expensive check. An order
 * whose contract wallet has no turn to be asked took the same checks, and costs as much.
 */
export const SUBMISSION_COSTS = { order: 1, dryRun: 10, refusedFok: 5, wrongSignature: 5 } as const;

export const SOCKET_LIMITS = {
  /** Open sockets of one IP. */
  perIp: 100,
  /** All messages of one socket. */
  messagesPerSecond: 50,
  bytesPerSecond: 64_000,
  /** After this many refused messages a socket is disconnected. */
  refusals: 100,
  /** The most order messages of one socket that are not answered yet. */
  ordersUnderWay: 100,
  /**
   * The points of all sockets of an address at one process, new sockets included. In debt, only new sockets are refused; open
   * sockets are not read until the debt is paid.
   */
  pace: {
    pointsPerSecond: 2_000,
    /** A hundred sockets may connect at once, and follow fifty markets each. */
    burst: 8_000,
    /** Points of a new socket, or of a request that could have become one. */
    upgrade: 10,
    /** Points of a message. */
    message: 1,
    /** Points added to a message about orders when it is refused, and when it is refused as RATE_LIMITED. */
    refused: 3,
    rateLimited: 9,
    /** The number of bytes read that cost a point, also when they are no message. */
    bytesPerPoint: 512,
    /** Points of a socket that had to be disconnected. */
    cut: 1_000,
    /** The longest wait of a new socket for its debt; then it is refused. */
    holdMs: 1_000,
    /** The debt is at most the points that come back in this time. */
    debtMs: 5_000,
  },
} as const;

/**
 * The pace of an address at one process, for all its requests: every request costs a point, and more when it is refused. The
 * requests of an address in debt wait until it is paid, and are served one after the other.
 */
export const PACE = {
  pointsPerSecond: 1_000,
  burst: 1_000,
  request: 1,
  /** Points added to the request's own when it is refused, and when it is refused as RATE_LIMITED. */
  refused: 3,
  rateLimited: 9,
  /** The number of bytes of a body that cost a point. */
  bytesPerPoint: 4_096,
  /** The number of pieces of a body that cost a point; a chunk of one byte is a piece. */
  piecesPerPoint: 64,
  /** The number of bytes of an answer's body that cost a point. */
  answerBytesPerPoint: 16_384,
  /** The most open connections of an address, sockets included, without a proxy in front. */
  connections: 256,
  /** Points of a new connection, without a proxy in front. */
  connection: 1,
  /** Points of a connection that is closed by force, because the pieces in its buffer are still parsed. */
  cut: 200,
  /**
   * The longest wait of a connection for its turn, and of a request; then it is refused. Both waits and the 3 s in which an
   * order can be booked are together 5 s: after these a 404 is final (docs/use/interface.md).
   */
  holdMs: 1_000,
  /** The debt is at most the points that come back in this time, so the first in line always has its turn. */
  debtMs: 900,
} as const;

/** The number of bytes of a submission that cost its address a point, if that is more than its orders cost. */
export const BYTES_PER_SUBMISSION = 4_096;

/** The largest body of a request, and of a batch. */
export const BODY_MAX_BYTES = 16_384;
export const BATCH_MAX_BYTES = 262_144;

export const QUERY_MEMBERS_MAX = 32;
/** The most requests of one connection that are served at once; pipelined requests beyond them wait unread. */
export const PIPELINED_MAX = 8;
/** The most of them that wait; more were sent to use up the process, and end the connection. */
export const PIPELINED_WAITING_MAX = 500;
