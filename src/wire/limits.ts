/** What GET /config tells of sockets, besides the limits of requests. */
export const SOCKET_LIMITS = {
  /** Open sockets of one IP. */
  perIp: 100,
  /** Of one socket, whatever they are. */
  messagesPerSecond: 50,
  bytesPerSecond: 64_000,
  /** After so many a socket is cut. */
  refusals: 100,
} as const;
