import type Joi from 'joi';

/**
 * The largest size of a value of a schema: the members of an object, the items of a list. Joi reads everything that it is
 * given, and words every fault it finds. A value larger than any valid one is refused before that, at a cost that follows
 * from the schema.
 */
export interface Extent {
  /** Null for a value that is no object. */
  readonly members: ReadonlyMap<string, Extent> | null;
  readonly required: boolean;
  /** The items of a list; null for a value that is no list. */
  readonly items: { readonly most: number; readonly each: Extent } | null;
}

export interface FieldError {
  readonly path: string;
  readonly message: string;
}

/** The most faults reported of one body; a hostile body could have thousands. */
export const ERRORS_MAX = 20;

export function extentOf(schema: Joi.Schema): Extent {
  return describedExtent(schema.describe());
}

function describedExtent(description: Joi.Description): Extent {
  const { keys } = description as { readonly keys?: Readonly<Record<string, Joi.Description>> };
  const most = (description.rules as { name: string; args?: { limit?: number } }[] | undefined)?.find(
    ({ name }) => name === 'max',
  )?.args?.limit;
  const [item] = (description.items ?? []) as Joi.Description[];
  return {
    required: (description.flags as { presence?: string } | undefined)?.presence === 'required',
    members: keys ? new Map(Object.entries(keys).map(([name, one]) => [name, describedExtent(one)])) : null,
    items:
      description.type === 'array' && most !== undefined && item !== undefined
        ? { most, each: describedExtent(item) }
        : null,
  };
}

/** Returns the first object or list that is too large; null when there is none. */
export function excessOf(
  value: unknown,
  extent: Extent,
  path: readonly string[] = [],
): readonly FieldError[] | null {
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) return extent.items && excessOfList(value, extent.items, path);
  const { members } = extent;
  if (members === null) return null;
  const names = Object.keys(value);
  if (names.length > members.size) {
    // An order without its wrapper lacks `order`; that its thirteen members are unknown says nothing more.
    const missing = missingOf(value, members, path);
    return missing.length > 0 ? missing : unknownOf(names, members, path);
  }
  for (const [name, inner] of members) {
    const member = (value as Record<string, unknown>)[name];
    // Most members are texts, for which no path is made.
    const found = typeof member === 'object' ? excessOf(member, inner, [...path, name]) : null;
    if (found) return found;
  }
  return null;
}

function excessOfList(
  list: readonly unknown[],
  { most, each }: { readonly most: number; readonly each: Extent },
  path: readonly string[],
): readonly FieldError[] | null {
  if (list.length > most) {
    return [{ path: path.join('.'), message: `must contain less than or equal to ${most} items` }];
  }
  for (const [i, item] of list.entries()) {
    const found = typeof item === 'object' ? excessOf(item, each, [...path, String(i)]) : null;
    if (found) return found;
  }
  return null;
}

function missingOf(
  value: object,
  members: ReadonlyMap<string, Extent>,
  path: readonly string[],
): FieldError[] {
  return [...members]
    .filter(([name, { required }]) => required && !Object.hasOwn(value, name))
    .map(([name]) => ({ path: [...path, name].join('.'), message: 'is required' }));
}

function unknownOf(
  names: readonly string[],
  members: ReadonlyMap<string, Extent>,
  path: readonly string[],
): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of names) {
    if (members.has(name)) continue;
    errors.push({ path: [...path, name].join('.'), message: 'is not allowed' });
    if (errors.length === ERRORS_MAX) break;
  }
  return errors;
}
