import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { checksumAddress } from '../auth/address';
import { type JwtSecret, parseJwtSecrets as parseSecretList } from '../auth/tokens';
import { type Micro, micro, parseScaled } from '../exchange/units';
import { SHARD_COUNTS, type ShardCount } from '../store/redis/tags';

/** Parsers of configuration values: each takes a text and returns a value, or throws BadValue. */

/** The reason why a value was refused; the message never repeats the value. */
export class BadValue extends Error {}

const SECRET_BYTES_MIN = 32;
const AMOUNT_MICRO_MAX = 1_000_000n * 1_000_000n;

export const oneOf =
  <const T extends string>(...allowed: readonly T[]) =>
  (text: string): T => {
    const found = allowed.find((value) => value === text);
    if (found === undefined) throw new BadValue(`must be one of ${allowed.join(', ')}`);
    return found;
  };

export const flag = (text: string): boolean =>
  /^(1|on|true)$/.test(oneOf('on', 'off', '1', '0', 'true', 'false')(text));

export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw new BadValue(`must be a whole number from ${min} to ${max}`);
    return value;
  };

/** Names of extensions, separated by commas. Whether there is one of each name is for the composition root to say. */
export function parseExtensions(text: string): 'all' | readonly string[] {
  if (text === 'all') return text;
  return text === 'none' ? [] : listOf(text);
}

export function shardCount(text: string): ShardCount {
  const found = SHARD_COUNTS.find((count) => String(count) === text);
  if (found === undefined) throw new BadValue(`must be one of ${SHARD_COUNTS.join(', ')}`);
  return found;
}

export const matching =
  (pattern: RegExp, problem: string) =>
  (text: string): string => {
    if (!pattern.test(text)) throw new BadValue(problem);
    return text;
  };

const TOKEN = /^[\x21-\x7e]{32,512}$/;
const TOKEN_CHARACTERS_MIN = 8;
const REPEATED = /^(.{1,16})\1+$/;

/** Several are separated by commas. A long token is not always strong: one repeated character or word can be guessed. */
export function parseAdminTokens(text: string): readonly string[] {
  const tokens = listOf(text);
  for (const token of tokens) {
    if (!TOKEN.test(token))
      throw new BadValue(
        'must be at least 32 printable characters without spaces and commas, each of a list',
      );
    if (new Set(token).size < TOKEN_CHARACTERS_MIN || REPEATED.test(token)) {
      throw new BadValue('repeats itself and could be guessed; try: openssl rand -hex 32');
    }
  }
  return tokens;
}

/** How the files of this repository mark the secrets that they leave to the operator. */
const PLACEHOLDER = /change[-_ ]?(?:this|me|the)/i;
/** Private keys of docs/use/signing.md, which are also the first accounts of every local test chain. */
const PUBLISHED_KEYS =
  /ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80|59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d/i;

/** Refuses a secret that stands in a file of this repository, so that everybody knows it. */
export function refusePublished(text: string): void {
  if (PLACEHOLDER.test(text) || PUBLISHED_KEYS.test(text))
    throw new BadValue(
      'must be a secret of your own: this one stands in an example; try: openssl rand -hex 32',
    );
}

const listOf = (text: string): string[] => text.split(',').map((part) => part.trim());

function parseUrl(text: string, protocols: readonly string[]): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.hostname === '' || !protocols.includes(url.protocol)) {
    throw new BadValue(`must be a ${protocols.map((protocol) => `${protocol}//`).join(' or ')} URL`);
  }
  return url;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

const SENTINELS = /^(?<head>rediss?\+sentinel:\/\/(?:[^@/]*@)?)(?<hosts>[^@/]*)(?<tail>.*)$/;
const SENTINEL_LOGIN = ['sentinelUsername', 'sentinelPassword'];

/** One URL for each Sentinel. */
function parseSentinelUrls({ head, hosts = '', tail }: Readonly<Record<string, string>>): readonly string[] {
  return listOf(hosts).map((host) => {
    const url = `${head}${host}${tail}`;
    const parsed = parseUrl(url, ['redis+sentinel:', 'rediss+sentinel:']);
    if (!isDecodable(parsed.username) || !isDecodable(parsed.password))
      throw new BadValue('must percent-encode its password');
    if (!/^\/[\w.-]+(\/\d{0,4})?$/.test(parsed.pathname))
      throw new BadValue(
        'must name the primary that the Sentinels watch, such as redis+sentinel://a:26379,b:26379/exchange',
      );
    if ([...parsed.searchParams.keys()].some((name) => !SENTINEL_LOGIN.includes(name)))
      throw new BadValue(`may have no query but ${SENTINEL_LOGIN.join(' and ')}`);
    return url;
  });
}

export function parseRedisUrls(text: string): readonly string[] {
  const sentinels = SENTINELS.exec(text)?.groups;
  if (sentinels) return parseSentinelUrls(sentinels);
  const urls = listOf(text);
  for (const url of urls) {
    const { pathname, username, password } = parseUrl(url, ['redis:', 'rediss:']);
    if (!isDecodable(username) || !isDecodable(password))
      throw new BadValue('must percent-encode its password');
    if (!/^\/?\d{0,4}$/.test(pathname)) throw new BadValue('may have no path but a database number');
    if (urls.length > 1 && !/^\/?0?$/.test(pathname))
      throw new BadValue('must name database 0, or none, because a cluster has no other');
  }
  return urls;
}

export function parseArchiveUrl(text: string): string {
  const { pathname, username, password } = parseUrl(text, ['postgres:', 'postgresql:']);
  if (!isDecodable(username) || !isDecodable(password))
    throw new BadValue('must percent-encode its password');
  if (pathname.length < 2) throw new BadValue('must name the database behind the host');
  return text;
}

/** PEM text. Platforms that allow only one line in a variable write its line ends as \n. */
export function parseCertificates(text: string): string {
  const pem = text.replaceAll('\\n', '\n');
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (certificates.length === 0 || !certificates.every(isCertificate))
    throw new BadValue('must be one or more certificates in PEM');
  return certificates.join('\n');
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem) !== undefined;
  } catch {
    return false;
  }
}

/** Without the slash at the end, so that paths can be appended. */
export function parseBaseUrl(text: string): string {
  const url = parseUrl(text, ['http:', 'https:']);
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new BadValue('may have no user, query or fragment');
  }
  return url.href.replace(/\/+$/, '');
}

/** The page and the console are served at the root of a host. */
export function parsePublicUrl(text: string): string {
  const url = parseBaseUrl(text);
  if (url !== new URL(url).origin)
    throw new BadValue('may have no path: give the exchange a host name of its own');
  return url;
}

export function parseOrigins(text: string): '*' | readonly string[] {
  if (text === '*') return text;
  if (text === 'none') return [];
  return listOf(text).map((origin) => {
    if (parseUrl(origin, ['http:', 'https:']).origin !== origin) {
      throw new BadValue('must be *, none or a list of origins such as https://example.com');
    }
    return origin;
  });
}

/** The IP address of an interface of this machine. */
export function parseHost(text: string): string {
  if (isIP(text) === 0) throw new BadValue('must be an IP address, such as 127.0.0.1 or ::1');
  return text;
}

/** Addresses and networks, by the names that Express has for some of them. */
function parseAddresses(text: string, problem: string): readonly string[] {
  return listOf(text).map((entry) => {
    const [address = '', bits, ...rest] = entry.split('/');
    const version = isIP(address);
    const bitsMax = version === 4 ? 32 : 128;
    const range = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax);
    if (!/^(loopback|linklocal|uniquelocal)$/.test(entry) && !(version > 0 && range && rest.length === 0)) {
      throw new BadValue(problem);
    }
    return entry;
  });
}

export const parseOperatorAddresses = (text: string): 'any' | readonly string[] =>
  text === 'any'
    ? text
    : parseAddresses(text, 'must be any, or a list of addresses, ranges, loopback, linklocal, uniquelocal');

/** The values of Express's `trust proxy`; `true` is left out, because it would believe any client's X-Forwarded-For. */
export function parseTrustProxy(text: string): false | number | readonly string[] {
  if (/^(off|0|false)$/.test(text)) return false;
  if (/^\d{1,2}$/.test(text)) return Number(text);
  return parseAddresses(
    text,
    'must be off, a number of proxies, or a list of addresses, ranges, loopback, uniquelocal',
  );
}

export type JwtSecrets = readonly [JwtSecret, ...JwtSecret[]];

/** `secret`, or `kid:secret,kid:secret`; the first one signs, all of them verify. */
export function parseJwtSecrets(text: string): JwtSecrets {
  const secrets = readSecrets(text);
  if (secrets.some(({ secret }) => Buffer.byteLength(secret) < SECRET_BYTES_MIN)) {
    throw new BadValue(
      `every secret must be at least ${SECRET_BYTES_MIN} bytes long; try: openssl rand -hex 32`,
    );
  }
  return secrets;
}

function readSecrets(text: string): JwtSecrets {
  try {
    return parseSecretList(text);
  } catch (error) {
    throw new BadValue((error as Error).message);
  }
}

/** An amount of collateral. */
export function parseAmount(text: string): Micro {
  const scaled = parseScaled(text, 6);
  if (scaled === null || scaled > AMOUNT_MICRO_MAX) {
    throw new BadValue('must be a decimal with at most 6 decimals, from 0 to 1000000');
  }
  return micro(Number(scaled));
}

const contractAddress = matching(
  /^0x(?!0{40}$)[0-9a-fA-F]{40}$/,
  'must be 0x and 40 hex digits, not all zero',
);

/** Every client would sign for a mistyped contract, so an address in mixed case must have its checksum here, too. */
export function parseContractAddress(text: string): string {
  const address = contractAddress(text);
  try {
    checksumAddress(address);
  } catch {
    throw new BadValue('is mistyped: its mixed case is not its EIP-55 checksum');
  }
  return address;
}

/** The URLs may contain access keys, so they are secret. JSON-RPC goes over HTTP, one request at a time. */
export function parseRpcUrls(text: string): readonly string[] {
  const urls = listOf(text).map((url) => parseUrl(url, ['http:', 'https:']).href);
  if (new Set(urls).size < urls.length) throw new BadValue('must name every endpoint once');
  return urls;
}

/** The URL of a Web3Signer. It may contain a password, so it is secret. */
export const parseSignerUrl = (text: string): string =>
  parseUrl(text, ['http:', 'https:']).href.replace(/\/+$/, '');

const PRIVATE_KEY = /^0x(?!0{64}$)[0-9a-fA-F]{64}$/;

export function parsePrivateKey(text: string): string {
  if (!PRIVATE_KEY.test(text)) throw new BadValue('must be 0x and 64 hex digits, not all zero');
  return text.toLowerCase();
}

export function parsePrivateKeys(text: string): readonly string[] {
  const keys = listOf(text).map(parsePrivateKey);
  if (new Set(keys).size < keys.length) {
    throw new BadValue('must name every key once: two lanes with one key would use the same nonces');
  }
  return keys;
}

const GWEI_DECIMALS = 9;
const GAS_PRICE_WEI_MAX = 10n ** 13n;

/** Converts gwei to wei. */
export function parseGasPrice(text: string): bigint {
  const wei = parseScaled(text, GWEI_DECIMALS);
  if (wei === null || wei === 0n || wei > GAS_PRICE_WEI_MAX) {
    throw new BadValue('must be a price in gwei above 0 and at most 10000, such as 1.5');
  }
  return wei;
}
