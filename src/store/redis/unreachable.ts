/** Replies of a Redis that runs and cannot serve: starting, full, read-only, failing over, busy, without replicas. */
const REDIS_REPLIES =
  /^(LOADING|OOM|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|MISCONF|NOREPLICAS|UNBLOCKED)\b|allow-oom/;
/** Errors of a client whose Redis is unreachable; ioredis has no class for most of them. */
const REDIS_NAMES: ReadonlySet<string> = new Set([
  'MaxRetriesPerRequestError',
  'ClusterAllFailedError',
  'AbortError',
  'NotReplicated',
]);
const REDIS_MESSAGES =
  /^(Command timed out|Connection is closed|Stream isn't writeable|None of startup nodes|Failed to refresh slots cache|Too many Cluster redirections|Cluster isn't ready|Redis connection is not ready|All sentinels are unreachable)/;
const SOCKET_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

export function isRedisUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : undefined;
  return (
    REDIS_NAMES.has(error.name) ||
    (typeof code === 'string' && SOCKET_CODES.has(code)) ||
    messagesOf(error).some((message) => REDIS_REPLIES.test(message)) ||
    REDIS_MESSAGES.test(error.message)
  );
}

/** The client keeps the replies of a discarded transaction; BullMQ adds words of its own in front of some. */
function messagesOf(error: Error): string[] {
  const { previousErrors = [] } = error as { previousErrors?: readonly Error[] };
  return [error, ...previousErrors].map(({ message }) => message);
}

/** Redis has no memory for the command. */
export const isFull = (error: unknown): boolean =>
  error instanceof Error && messagesOf(error).some((message) => /^(Failed to [\w ]+: )?OOM\b/.test(message));

/** READONLY, MISCONF (a disk that accepts no writes), LOADING, ...: the word with which Redis says why it does not serve. */
export const redisReply = (error: unknown): string | null =>
  (error instanceof Error && REDIS_REPLIES.exec(error.message)?.[1]) || null;
