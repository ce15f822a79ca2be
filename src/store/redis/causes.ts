/** The reasons why a connection to Redis fails, in words on which an operator can act. */
const NO_SENTINEL = /unknown command .?sentinel/i;
const CAUSES: readonly (readonly [sign: RegExp, cause: string])[] = [
  [NO_SENTINEL, 'it is a Redis and no Sentinel: use redis://, or the port of a Sentinel (26379)'],
  [/ECONNREFUSED/, 'nothing listens there'],
  [/ENOTFOUND|EAI_AGAIN/, 'its name is unknown'],
  [
    /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/,
    'it cannot be reached, or it speaks no TLS where rediss:// expects it',
  ],
  [
    /SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|self-signed|unable to verify/i,
    'its certificate is not trusted: put its CA into REDIS_TLS_CA',
  ],
  [
    /ALTNAME|altnames/i,
    'its certificate is for another name: use that name, or put the certificate itself into REDIS_TLS_CA',
  ],
  [/wrong version number|WRONG_VERSION/i, 'it does not speak TLS: use redis://'],
  [
    /ECONNRESET|Connection is closed|socket hang up|EPIPE/i,
    'it closes the connection: does it expect TLS (rediss://)?',
  ],
  [/WRONGPASS|NOAUTH|invalid password/i, 'it refuses the user or the password of REDIS_URL'],
  [/NOPERM/, 'its user may not run the commands of the exchange: compare docs/deploy/redis-acl.conf'],
  [/All sentinels are unreachable/, 'no Sentinel of REDIS_URL knows that name'],
  [/CERT_HAS_EXPIRED|certificate has expired/i, 'its certificate has expired'],
];

/** The server ends each connection and sends nothing. */
export const SILENT = 'it closes the connection: does it expect TLS (rediss://)?';

/** A cluster's client keeps no other reason why it cannot connect to a node. */
const CLOSED_NODE = 'nothing listens there, or it expects TLS (rediss://)';

/** As `causeOf`, for a node of a cluster. */
export const causeOfNode = (error: Error): string =>
  error.message === 'Connection is closed.' ? CLOSED_NODE : causeOf(error);

/** The first line of the error, and its meaning where that is known. */
export function causeOf(error: Error): string {
  const met = textOf(error);
  const known = CAUSES.find(([sign]) => sign.test(met));
  return known ? `${known[1]} (${met})` : met;
}

function textOf(error: Error): string {
  // A name with several addresses fails with an error for each; a cluster fails with the error of its last node.
  const {
    errors = [],
    lastNodeError,
    code = '',
  } = error as Partial<AggregateError> & {
    lastNodeError?: Error;
    code?: string;
  };
  const [inner = lastNodeError] = errors;
  if (inner instanceof Error) return textOf(inner);
  const [line = ''] = error.message.replace(WAIT, '').split('\n');
  return line.includes(code) ? line : `${line}, ${code}`;
}

/** The wait of the client, which differs in each attempt. */
const WAIT = / Retrying from scratch after \d+ms\./;

/** An error of a connection for the log, in which equal errors have equal texts. */
export const logTextOf = (error: Error): string =>
  NO_SENTINEL.test(error.message) ? causeOf(error) : error.message.replace(WAIT, '');
