/** The reasons why a connection to Redis fails, in words on which an operator can act. */
const CAUSES: readonly (readonly [sign: RegExp, cause: string])[] = [
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
  const [line = ''] = error.message.split('\n');
  return line.includes(code) ? line : `${line}, ${code}`;
}
