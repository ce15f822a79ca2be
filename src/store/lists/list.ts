/**
 * Reads rows in Redis and those that are missing there in the archive, in the order of their ids. What leaves Redis is in the archive
 * before, so no row is missed that leaves meanwhile. Null for a row that is in neither.
 */
export function withArchive<Id, Row>(
  here: (ids: readonly Id[]) => Promise<readonly (Row | null | undefined)[]>,
  archived: (ids: readonly Id[]) => Promise<ReadonlyMap<string, Row>>,
  nameOf: (id: Id) => string,
): (ids: readonly Id[]) => Promise<(Row | null)[]> {
  return async (ids) => {
    const found = await here(ids);
    const left = await archived(ids.filter((_, i) => !found[i]));
    return ids.map((id, i) => found[i] ?? left.get(nameOf(id)) ?? null);
  };
}

/** Reads the rows of several lists of ids at once; null for a missing one. */
export async function getLists<Id, Row>(
  get: (ids: readonly Id[]) => Promise<readonly (Row | null)[]>,
  lists: readonly (readonly Id[])[],
): Promise<(Row | null)[][]> {
  const rows = (await get(lists.flat())).values();
  return lists.map((ids) => ids.map(() => rows.next().value ?? null));
}

/** Sorts rows of several sources, each row once: as the first source has it that has it. */
export function mergeOnce<Row>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  compare: (a: Row, b: Row) => number,
): Row[] {
  const found = new Map<string, Row>();
  for (const row of rows) if (!found.has(nameOf(row))) found.set(nameOf(row), row);
  return [...found.values()].sort(compare);
}

/** The part of a partition; each list of parts has one for each partition. */
export function partAt<T>(parts: readonly T[], partition: number): T {
  const part = parts[partition];
  if (part === undefined) throw new RangeError(`no partition ${partition}`);
  return part;
}

/** Asks each partition for its own items, all of them at once. */
export async function byPartition<Item, Answer>(
  items: readonly Item[],
  partitionOf: (item: Item) => number | Promise<number>,
  ask: (partition: number, own: readonly Item[]) => Promise<Answer>,
): Promise<Answer[]> {
  const partitions = await Promise.all(items.map(partitionOf));
  const ownOf = (partition: number): Item[] => items.filter((_, i) => partitions[i] === partition);
  return Promise.all([...new Set(partitions)].map((partition) => ask(partition, ownOf(partition))));
}

/** The same for one row of each item; the rows are in the order of the items. */
export async function overPartitions<Item, Row>(
  items: readonly Item[],
  partitionOf: (item: Item) => number | Promise<number>,
  read: (partition: number, own: readonly Item[]) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows = new Map<Item, Row>();
  await byPartition(items, partitionOf, async (partition, own) => {
    for (const [i, row] of (await read(partition, own)).entries()) rows.set(own[i] as Item, row);
  });
  return items.map((item) => rows.get(item) as Row);
}

/** The next rows of a list, and the place behind which it may have more; null at its end. */
interface Part<Place, Row> {
  readonly rows: readonly Row[];
  readonly end: Place | null;
}

/** Merges the next rows of several lists up to the first of their ends: what a list has behind its end is not known. */
export function mergeParts<Place, Row extends Place>(
  parts: readonly Part<Place, Row>[],
  compare: (a: Place, b: Place) => number,
): { readonly rows: Row[]; readonly end: Place | null } {
  const [end = null] = parts.flatMap((part) => (part.end === null ? [] : [part.end])).sort(compare);
  const rows = parts.flatMap((part) => part.rows);
  return { rows: rows.filter((row) => end === null || compare(row, end) <= 0).sort(compare), end };
}

/**
 * Reads a page in steps. A filter that matches little gets a short page, and a cursor behind its last step. The cursor of a full page is
 * that of its last row.
 */
export async function readPage<Row>(
  { limit, cursor }: { readonly limit: number; readonly cursor: string | null },
  stepsMax: number,
  cursorOf: (row: Row) => string,
  read: (cursor: string | null) => Promise<Part<string, Row>>,
): Promise<{ readonly rows: readonly Row[]; readonly next: string | null }> {
  const rows: Row[] = [];
  let end = cursor;
  for (let step = 0; step < stepsMax && rows.length <= limit; step++) {
    const part = await read(end);
    rows.push(...part.rows);
    end = part.end;
    if (end === null) break;
  }
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { rows: rows.slice(0, limit), next: last === undefined ? end : cursorOf(last) };
}
