/** Checks of input: whatever does not fit is refused by its name before anything is signed or sent. */

/** Throws a RangeError unless the member `name` may have this value. */
export type Check = (value: unknown, name: string) => void;
export type Shape = Readonly<Record<string, Check>>;

const UINT256_DIGITS_MAX = 78;
const UINT256_MAX = 2n ** 256n - 1n;
/** The first second of 1973 in milliseconds; seconds are below it until the year 5138. */
const MS_MIN = 1e11;
/** The year 2100: what is later was given in another unit. */
const MS_MAX = 4_102_444_800_000;

export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}

function refuse(name: string, expected: string, value: unknown): never {
  throw new RangeError(`${name} must be ${expected}, not ${shown(value)}`);
}

/** Throws a TypeError for a value that is no object, and a RangeError for a member that is unknown or does not fit. */
export function checkMembers(value: unknown, shape: Shape, what: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError(`${what} must be an object, not ${shown(value)}`);
  const known = Object.keys(shape);
  for (const name in value)
    if (!known.includes(name))
      throw new RangeError(`${name} is no member of ${what}, which has ${known.join(', ') || 'none'}`);
  for (const [name, check] of Object.entries(shape)) check((value as Record<string, unknown>)[name], name);
}

export const optional =
  (check: Check): Check =>
  (value, name) => {
    if (value !== undefined) check(value, name);
  };

export const anything: Check = () => undefined;

export const oneOf =
  (...values: readonly (string | number | null)[]): Check =>
  (value, name) => {
    if (!values.includes(value as never)) refuse(name, values.map(shown).join(' or '), value);
  };

export const matching =
  (pattern: RegExp, expected: string): Check =>
  (value, name) => {
    if (typeof value !== 'string' || !pattern.test(value)) refuse(name, expected, value);
  };

const ofType =
  (type: 'string' | 'boolean' | 'function', expected: string): Check =>
  (value, name) => {
    if (typeof value !== type || value === '') refuse(name, expected, value);
  };

export const text = ofType('string', 'a string that is not empty');
export const flag = ofType('boolean', 'true or false');
export const handler = ofType('function', 'a function');
export const address = matching(/^0x[0-9a-fA-F]{40}$/, 'an address');
export const hash = matching(/^0x[0-9a-fA-F]{64}$/, 'a hash of 32 bytes');
export const hex = matching(/^0x(?:[0-9a-fA-F]{2})*$/, 'bytes as hexadecimal digits');

export const integer =
  (min: number, max = Number.MAX_SAFE_INTEGER): Check =>
  (value, name) => {
    if (!Number.isInteger(value) || (value as number) < min || (value as number) > max)
      refuse(name, `a whole number from ${min} to ${max}`, value);
  };

const DIGITS = /^(?:0|[1-9][0-9]*)$/;

/** A decimal string, as the wire has the numbers of an order. */
export const digits: Check = (value, name) => {
  const isText = typeof value === 'string' && value.length <= UINT256_DIGITS_MAX && DIGITS.test(value);
  if (!isText || BigInt(value) > UINT256_MAX) refuse(name, 'the digits of a whole number', value);
};

/** The same, or a bigint or number with this value. */
export const unsigned: Check = (value, name) => {
  const isNumber = typeof value === 'bigint' || Number.isSafeInteger(value);
  digits(isNumber ? String(value) : value, name);
};

/** A time in milliseconds; one in seconds or microseconds is recognised by its size. */
export const instant: Check = (value, name) => {
  const ms = value instanceof Date ? value.getTime() : value;
  if (typeof ms !== 'number' || !(ms > MS_MIN && ms <= MS_MAX))
    refuse(name, 'a Date or in milliseconds since 1970, before 2100', ms);
};

/** A decimal string greater than zero. */
export const positive: Check = (value, name) => {
  if (
    typeof value !== 'string' ||
    !/^(?:0|[1-9][0-9]{0,59})(?:\.[0-9]{1,60})?$/.test(value) ||
    !/[1-9]/.test(value)
  )
    refuse(name, 'a decimal string greater than zero', value);
};

/** A call takes it as an argument, not as a member. */
const TIMEFRAME = optional(oneOf('1h', '6h', '1d', '1w', '1m', 'all'));

/** The query of a read: each of its members is optional, and the exchange checks the values but that of `timeframe`. */
export function checkQuery(query: unknown, names: readonly string[]): void {
  const checks = names.map((name) => [name, name === 'timeframe' ? TIMEFRAME : anything]);
  checkMembers(query, Object.fromEntries(checks), 'the query');
}

/** An http or https URL without query and fragment; "" is the page's own origin. */
export const baseUrl: Check = (value, name) => {
  if (value === '' || (typeof value === 'string' && /^https?:\/\/[^/?#\s]+(?:\/[^?#\s]*)?$/.test(value)))
    return;
  refuse(name, 'a URL such as "https://example.com/exchange"', value);
};
