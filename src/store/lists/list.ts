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
