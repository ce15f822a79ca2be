/**
 * The values of Quint and its operators, as far as the model uses them. Nothing is changed after it was made. A record has its
 * fields in the order of the alphabet, so that equal ones are listed alike.
 */
export type Value = number | string | boolean | readonly Value[] | QuintSet | QuintMap | QuintRecord;
export interface QuintRecord {
  readonly [field: string]: Value;
}
type Call = (...args: Value[]) => Value;

const numbers = new Map<unknown, number>();
const known = new WeakMap<object, number>();

function numbered(key: unknown): number {
  const found = numbers.get(key);
  if (found !== undefined) return found;
  numbers.set(key, numbers.size);
  return numbers.size - 1;
}

const ascending = (a: number, b: number): number => a - b;

function keyOf(value: object): string {
  if (Array.isArray(value)) return `[${value.map(idOf).join()}`;
  if (value instanceof QuintSet) return `{${[...value.items.keys()].sort(ascending).join()}`;
  if (value instanceof QuintMap) {
    const pairs = [...value.items].sort(([a], [b]) => a - b);
    return `<${pairs.map(([id, [, held]]) => `${id}:${idOf(held)}`).join()}`;
  }
  let key = '(';
  for (const field in value) key += `${field}:${idOf((value as QuintRecord)[field] as Value)},`;
  return key;
}

/** Equal values have the same number, and only they. */
export function idOf(value: Value): number {
  if (typeof value !== 'object') return numbered(value);
  const found = known.get(value);
  if (found !== undefined) return found;
  const id = numbered(keyOf(value));
  known.set(value, id);
  return id;
}

export class QuintSet {
  constructor(readonly items: ReadonlyMap<number, Value>) {}
  static of(values: Iterable<Value>): QuintSet {
    const items = new Map<number, Value>();
    for (const value of values) items.set(idOf(value), value);
    return new QuintSet(items);
  }
}

export class QuintMap {
  constructor(readonly items: ReadonlyMap<number, readonly [Value, Value]>) {}
  with(key: Value, value: Value): QuintMap {
    return new QuintMap(new Map(this.items).set(idOf(key), [key, value]));
  }
}

const list = (value: Value): readonly Value[] => value as readonly Value[];
const set = (value: Value): Value[] => [...(value as QuintSet).items.values()];
const map = (value: Value): QuintMap => value as QuintMap;
const call = (value: Value): Call => value as unknown as Call;

function held(of: Value, key: Value): Value {
  const found = map(of).items.get(idOf(key));
  if (found === undefined) throw new Error(`a map has no key ${String(key)}`);
  return found[1];
}

function item(of: Value, index: number): Value {
  const found = list(of)[index];
  if (found === undefined) throw new Error(`a list of ${list(of).length} has no item ${index}`);
  return found;
}

const range = (end: number): number[] => Array.from({ length: end }, (_, index) => index);

function changed(of: Value, field: Value, value: Value): Value {
  const record = of as QuintRecord;
  return record[field as string] === value ? of : { ...record, [field as string]: value };
}

const SETS = {
  Set: (...values: Value[]) => QuintSet.of(values),
  union: (a: Value, b: Value) => new QuintSet(new Map([...(a as QuintSet).items, ...(b as QuintSet).items])),
  exclude: (a: Value, b: Value) => {
    const out = (b as QuintSet).items;
    return new QuintSet(new Map([...(a as QuintSet).items].filter(([id]) => !out.has(id))));
  },
  in: (value: Value, of: Value) => (of as QuintSet).items.has(idOf(value)),
  filter: (of: Value, keep: Value) =>
    new QuintSet(new Map([...(of as QuintSet).items].filter(([, value]) => call(keep)(value)))),
  map: (of: Value, to: Value) => QuintSet.of(set(of).map((value) => call(to)(value))),
  flatten: (of: Value) => QuintSet.of(set(of).flatMap(set)),
  /** In the order of Quint, which decides what a fold makes of numbers. */
  fold: (of: Value, start: Value, add: Value) =>
    set(of)
      .sort((a, b) => Number(a) - Number(b))
      .reduce((sum, value) => call(add)(sum, value), start),
  forall: (of: Value, holds: Value) => set(of).every((value) => call(holds)(value)),
  exists: (of: Value, holds: Value) => set(of).some((value) => call(holds)(value)),
  tuples: (a: Value, b: Value) => QuintSet.of(set(a).flatMap((x) => set(b).map((y) => [x, y]))),
  size: (of: Value) => (of as QuintSet).items.size,
};

const MAPS = {
  Map: (...pairs: Value[]) =>
    new QuintMap(new Map(pairs.map((pair) => [idOf(item(pair, 0)), [item(pair, 0), item(pair, 1)]]))),
  mapBy: (keys: Value, to: Value) =>
    new QuintMap(new Map(set(keys).map((key) => [idOf(key), [key, call(to)(key)]]))),
  keys: (of: Value) => QuintSet.of([...map(of).items.values()].map(([key]) => key)),
  get: held,
  put: (of: Value, key: Value, value: Value) => map(of).with(key, value),
  set: (of: Value, key: Value, value: Value) => (held(of, key) === value ? of : map(of).with(key, value)),
  setBy: (of: Value, key: Value, to: Value) => map(of).with(key, call(to)(held(of, key))),
};

const LISTS = {
  List: (...values: Value[]) => values,
  Tup: (...values: Value[]) => values,
  item: (of: Value, index: Value) => item(of, (index as number) - 1),
  nth: (of: Value, index: Value) => item(of, index as number),
  length: (of: Value) => list(of).length,
  append: (of: Value, value: Value) => [...list(of), value],
  concat: (a: Value, b: Value) => [...list(a), ...list(b)],
  tail: (of: Value) => list(of).slice(1),
  indices: (of: Value) => QuintSet.of(range(list(of).length)),
  replaceAt: (of: Value, index: Value, value: Value) =>
    item(of, index as number) === value ? of : list(of).with(index as number, value),
  select: (of: Value, keep: Value) => list(of).filter((value) => call(keep)(value)),
  foldl: (of: Value, start: Value, add: Value) =>
    list(of).reduce((sum: Value, value) => call(add)(sum, value), start),
};

export const OPERATORS = {
  ...SETS,
  ...MAPS,
  ...LISTS,
  field: (of: Value, name: Value) => (of as QuintRecord)[name as string] as Value,
  with: changed,
  eq: (a: Value, b: Value) => a === b || idOf(a) === idOf(b),
  neq: (a: Value, b: Value) => a !== b && idOf(a) !== idOf(b),
  not: (a: Value) => !a,
};

/** These become JavaScript of their own: arithmetic, and operators that must not look at all of their arguments. */
export const LAZY: Readonly<Record<string, (codes: readonly string[]) => string>> = {
  ite: ([condition, yes, no]) => `(${condition} ? ${yes} : ${no})`,
  and: (codes) => `(${codes.join(' && ')})`,
  or: (codes) => `(${codes.join(' || ')})`,
  implies: ([a, b]) => `(!${a} || ${b})`,
  iadd: ([a, b]) => `(${a} + ${b})`,
  isub: ([a, b]) => `(${a} - ${b})`,
  iuminus: ([a]) => `(-${a})`,
  igt: ([a, b]) => `(${a} > ${b})`,
  igte: ([a, b]) => `(${a} >= ${b})`,
  ilt: ([a, b]) => `(${a} < ${b})`,
  ilte: ([a, b]) => `(${a} <= ${b})`,
};

/** A record's code from that of its names and values, in turn. */
export function recordOf(codes: readonly string[]): string {
  const fields = codes.flatMap((code, at) => (at % 2 === 0 ? [`${code}: ${codes[at + 1]}`] : []));
  return `({ ${fields.sort().join(', ')} })`;
}

interface Foreign {
  readonly '#bigint'?: string;
  readonly '#set'?: readonly unknown[];
  readonly '#map'?: readonly (readonly [unknown, unknown])[];
}

/** A value of a trace, in the Informal Trace Format. */
export function ofTrace(value: unknown): Value {
  if (typeof value !== 'object' || value === null) return value as Value;
  if (Array.isArray(value)) return value.map(ofTrace);
  const { '#bigint': number, '#set': members, '#map': pairs } = value as Foreign;
  if (number !== undefined) return Number(number);
  if (members !== undefined) return QuintSet.of(members.map(ofTrace));
  if (pairs !== undefined) return MAPS.Map(...pairs.map((pair) => pair.map(ofTrace)));
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([field, held]) => [field, ofTrace(held)]),
  );
}
