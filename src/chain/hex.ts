/** Numbers and bytes as JSON-RPC writes them. Each reader throws a BadAnswer on anything else. */

/** A node sent something that its interface does not allow. */
export class BadAnswer extends Error {
  constructor(what: string) {
    super(`the node sent no valid ${what}`);
  }
}

const QUANTITY = /^0x(?:0|[1-9a-f][0-9a-f]{0,63})$/i;
const BYTES = /^0x(?:[0-9a-f]{2})*$/i;
const HASH_DIGITS = 66;
const ADDRESS_DIGITS = 42;

export const quantity = (n: number | bigint): string => `0x${n.toString(16)}`;

export function readBigInt(value: unknown, what: string): bigint {
  if (typeof value !== 'string' || !QUANTITY.test(value)) throw new BadAnswer(what);
  return BigInt(value);
}

export function readNumber(value: unknown, what: string): number {
  const number = Number(readBigInt(value, what));
  if (!Number.isSafeInteger(number)) throw new BadAnswer(what);
  return number;
}

/** Bytes, in lower case. */
export function readBytes(value: unknown, what: string): string {
  if (typeof value !== 'string' || !BYTES.test(value)) throw new BadAnswer(what);
  return value.toLowerCase();
}

function readFixed(value: unknown, digits: number, what: string): string {
  const bytes = readBytes(value, what);
  if (bytes.length !== digits) throw new BadAnswer(what);
  return bytes;
}

export const readHash = (value: unknown, what: string): string => readFixed(value, HASH_DIGITS, what);
export const readAddress = (value: unknown, what: string): string => readFixed(value, ADDRESS_DIGITS, what);

export function readObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new BadAnswer(what);
  return value as Readonly<Record<string, unknown>>;
}

export function readList(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new BadAnswer(what);
  return value;
}
