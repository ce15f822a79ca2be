export type StreamEntry = [id: Buffer, fields: Buffer[]];

/** Maximum bytes of one call, which take Redis less than 1 ms. An entry of an order that met 500 others has 30 kB, most have 100 bytes. */
const CALL_BYTES = 500_000;
const [FIRST, LEAST, MOST] = [20, 1, 1_000];

/**
 * The entries of a stream from an id on, by calls of about the same size, until there are `most` of them or `bytesMost` bytes. `more`
 * says that it stopped before the end.
 */
export async function readPaged(
  read: (from: string, count: number) => Promise<unknown>,
  from: string,
  most: number,
  bytesMost: number,
): Promise<{ readonly found: StreamEntry[]; readonly more: boolean }> {
  const found: StreamEntry[] = [];
  let bytes = 0;
  for (let [at, count] = [from, FIRST]; ; ) {
    const asked = Math.min(count, most - found.length);
    const part = (await read(at, asked)) as StreamEntry[];
    found.push(...part);
    for (const [, fields] of part) bytes += fields[1]?.length ?? 0;
    const last = part.at(-1);
    if (part.length < asked || !last) return { found, more: false };
    if (found.length >= most || bytes >= bytesMost) return { found, more: true };
    at = `(${last[0].toString()}`;
    count = Math.min(MOST, Math.max(LEAST, Math.floor((CALL_BYTES * found.length) / Math.max(1, bytes))));
  }
}
