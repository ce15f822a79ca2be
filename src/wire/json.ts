import { isUtf8 } from 'node:buffer';
import { Refusal } from '../exchange/errors';

/** No valid request is nested deeper than a few levels. */
const DEPTH_MAX = 16;
const BYTE_ORDER_MARK = '\ufeff';
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/**
 * Parses a JSON text strictly: valid UTF-8, no member twice in an object (parsers disagree on which of the two counts, and
 * a signed order has one meaning), no `__proto__`.
 * Throws INVALID_JSON, with the detail `invalid` for what is no JSON text, and INVALID_REQUEST for a member that no request has.
 */
export function parseJson(bytes: Buffer, invalid = 'the body must be valid JSON'): unknown {
  if (!isUtf8(bytes)) throw new Refusal('INVALID_JSON', 'the body must be valid UTF-8');
  const text = bytes.toString('utf8');
  if (text.startsWith(BYTE_ORDER_MARK))
    throw new Refusal('INVALID_JSON', 'the body has a byte order mark; send UTF-8 without it');
  const value = parse(text, invalid);
  if (typeof value === 'object' && value !== null && checkMembers(value) !== countColons(text)) {
    throw new Refusal('INVALID_JSON', 'the body contains a member twice; send each member once');
  }
  return value;
}

function parse(text: string, invalid: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the body.
    throw new Refusal('INVALID_JSON', invalid);
  }
}

/**
 * Returns the number of members of a value that was parsed from JSON. Throws INVALID_REQUEST when it is nested too deep, or has a
 * `__proto__`.
 */
export function checkMembers(value: object, depth = 1): number {
  if (depth > DEPTH_MAX)
    throw new Refusal('INVALID_REQUEST', `the body may be nested ${DEPTH_MAX} levels deep`);
  let count = 0;
  if (!Array.isArray(value)) {
    const names = Object.keys(value);
    count = names.length;
    // JSON.parse makes it an ordinary member; copying the object would make it the prototype.
    if (names.includes('__proto__')) throw unknownMember('__proto__');
  }
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) count += checkMembers(member, depth + 1);
  }
  return count;
}

const unknownMember = (path: string): Refusal =>
  new Refusal('INVALID_REQUEST', `${path} is not allowed; remove it`, {
    errors: [{ path, message: 'is not allowed' }],
  });

/** Counts colons outside of strings: one for each member of a valid text. */
function countColons(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COLON) count++;
    else if (code === QUOTE) at = endOfString(text, at);
  }
  return count;
}

/** The end of the string that begins at `start`: the next quote after an even number of backslashes. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
