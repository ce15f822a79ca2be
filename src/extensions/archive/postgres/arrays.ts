/**
 * PostgreSQL's binary form of a one-dimensional array, as array_recv reads it: dimensions, flags, type, length and lower bound in 4
 * bytes each, then for each element its length in 4 bytes and its bytes. The driver sends a Buffer as binary. An array of Buffers
 * it writes as text, in hexadecimal: of the time for an order, 6 us of the worker's 73 and 6 us of PostgreSQL's 38.
 */
const HEAD_BYTES = 20;
const LENGTH_BYTES = 4;
const BYTEA = 17;
const [INT8, INT8_BYTES] = [20, 8];
const HALF = 2 ** 32;
const TEXT = 25;

function head(packed: Buffer, type: number, count: number): number {
  let at = packed.writeInt32BE(1, 0);
  at = packed.writeInt32BE(0, at);
  at = packed.writeInt32BE(type, at);
  at = packed.writeInt32BE(count, at);
  return packed.writeInt32BE(1, at);
}

function ofBytes(type: number, list: readonly Buffer[]): Buffer {
  const bytes = list.reduce((sum, { length }) => sum + LENGTH_BYTES + length, HEAD_BYTES);
  const packed = Buffer.allocUnsafe(bytes);
  let at = head(packed, type, list.length);
  for (const one of list) {
    at = packed.writeInt32BE(one.length, at);
    packed.set(one, at);
    at += one.length;
  }
  return packed;
}

/** Most texts are the same few names. */
function ofTexts(list: readonly string[]): Buffer {
  const known = new Map<string, Buffer>();
  for (const text of new Set(list)) known.set(text, Buffer.from(text));
  return ofBytes(
    TEXT,
    list.map((text) => known.get(text) as Buffer),
  );
}

/** An array of integers that are exact in JavaScript, each in two halves. */
function ofIntegers(list: readonly number[]): Buffer {
  const packed = Buffer.allocUnsafe(HEAD_BYTES + list.length * (LENGTH_BYTES + INT8_BYTES));
  let at = head(packed, INT8, list.length);
  for (const one of list) {
    at = packed.writeInt32BE(INT8_BYTES, at);
    at = packed.writeInt32BE(Math.floor(one / HALF), at);
    at = packed.writeUInt32BE(one >>> 0, at);
  }
  return packed;
}

/** An array of numbers as int8[], of texts as text[], of bytes as bytea[]. */
export function packed(list: readonly unknown[]): Buffer {
  const [first] = list;
  if (typeof first === 'number') return ofIntegers(list as number[]);
  if (typeof first === 'string') return ofTexts(list as string[]);
  return ofBytes(BYTEA, list as Buffer[]);
}
