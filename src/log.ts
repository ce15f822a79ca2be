import { type DestinationStream, destination, type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';
import type { Config } from './config/load';

export type Logger = PinoLogger;

const HIDDEN = '[hidden]';
/** Shorter texts occur by chance; hiding them would garble the log and hide no secret. */
const SECRET_LENGTH_MIN = 6;

/** Members whose value is always hidden, in any object at any depth, and in JSON inside a string. */
const SECRET_MEMBERS = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'token',
  'accessToken',
  'refreshToken',
  'adminToken',
  'adminTokens',
  'signature',
  'password',
  'secret',
  'privateKey',
  'JWT_SECRET',
  'ADMIN_TOKEN',
  'REDIS_URL',
  'CHAIN_RPC_URL',
  'OPERATOR_KEYS',
  'OPERATOR_SIGNER_URL',
  'ORACLE_KEY',
];

const MEMBERS = SECRET_MEMBERS.join('|');
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // "member":"value", and the same inside a JSON string, where the quotes are escaped.
  [new RegExp(`("(?:${MEMBERS})"\\s*:\\s*)"(?:[^"\\\\]|\\\\.)*"`, 'gi'), `$1"${HIDDEN}"`],
  [new RegExp(`(\\\\"(?:${MEMBERS})\\\\"\\s*:\\s*)\\\\"(?:(?!\\\\").)*\\\\"`, 'gi'), `$1\\"${HIDDEN}\\"`],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, `$1 ${HIDDEN}`],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, HIDDEN],
  // The password of a URL.
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:@/"\\]*):[^\s@/"\\]+@/gi, `$1:${HIDDEN}@`],
  // 65 bytes of hex are the signature of an order or a sign-in; hashes have 32.
  [/0x[0-9a-f]{130,}/gi, HIDDEN],
];

/**
 * Hides secrets in one serialised line. It works on the final text, so it misses no path, nesting or message.
 * `literals` are hidden wherever they occur.
 */
export function createScrubber(literals: readonly string[] = []): (line: string) => string {
  const written = literals
    .filter((text) => text.length >= SECRET_LENGTH_MIN)
    .map((text) => JSON.stringify(text).slice(1, -1))
    .sort((a, b) => b.length - a.length);
  return (line) => {
    let scrubbed = line;
    for (const text of written) scrubbed = scrubbed.replaceAll(text, HIDDEN);
    for (const [pattern, replacement] of PATTERNS) scrubbed = scrubbed.replace(pattern, replacement);
    return scrubbed;
  };
}

/**
 * Structured JSON, one line per record, to stdout unless a stream is given. `name` is the process: web, worker.
 */
export function createLogger(
  config: Pick<Config, 'logLevel' | 'secrets'>,
  name: string,
  stream: DestinationStream = destination({ fd: 1, sync: false }),
): Logger {
  return pino(
    {
      name,
      level: config.logLevel,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: createScrubber(config.secrets) },
    },
    stream,
  );
}

export type Warn = (facts: Readonly<Record<string, unknown>>, what: string) => void;

/** Minimum interval between log lines with the same text. */
const EVERY_MS = 10_000;
/** When there are more different messages, all are forgotten, and each is written again at once. */
const MESSAGES_MAX = 100;

/**
 * Warns of what may repeat many times a second while something is away: at once, and then at most every ten seconds, with the number
 * of times that it was left out.
 */
export function createLogThrottle(
  log: Pick<Logger, 'warn'>,
  now: () => number = () => performance.now(),
): Warn {
  const seen = new Map<string, { writtenAtMs: number; leftOut: number }>();
  return (facts, what) => {
    const key = JSON.stringify([what, facts]);
    const last = seen.get(key);
    if (last && now() - last.writtenAtMs < EVERY_MS) {
      last.leftOut++;
      return;
    }
    if (seen.size >= MESSAGES_MAX) seen.clear();
    seen.set(key, { writtenAtMs: now(), leftOut: 0 });
    log.warn(last && last.leftOut > 0 ? { ...facts, leftOut: last.leftOut } : facts, what);
  };
}
