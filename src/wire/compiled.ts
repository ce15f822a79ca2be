import Ajv, { type AnySchema } from 'ajv';
import type Joi from 'joi';

/** Says of a value that Joi accepts it as it is. False only means that Joi has to look. */
export type Accepts = (value: unknown) => boolean;

type Json = Readonly<Record<string, unknown>>;
type Custom = (value: unknown, helpers: { error(): symbol }) => unknown;
interface Description {
  readonly type?: string;
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly rules?: readonly { readonly name: string; readonly args?: { readonly method?: Custom } }[];
  readonly keys?: Readonly<Record<string, Description>>;
  readonly items?: readonly Description[];
  readonly matches?: readonly { readonly schema?: Description }[];
}

/** The types, parts, flags and rules that Joi's JSON Schema says in full; a string's `custom` becomes a keyword. */
const TYPES = new Set(['alternatives', 'any', 'array', 'boolean', 'number', 'object', 'string']);
const PARTS = new Set(['allow', 'items', 'keys', 'matches', 'preferences']);
const FLAGS = new Set(['description', 'only', 'presence']);
const RULES = new Set(['custom', 'integer', 'length', 'max', 'min', 'pattern', 'unique']);
const REFUSED = Symbol('refused');
const helpers = { error: () => REFUSED };

const ajv = new Ajv({
  strict: false,
  meta: false,
  validateSchema: false,
  // Joi counts the UTF-16 units of a text, and writes patterns without the flag.
  unicodeRegExp: false,
  unicode: false,
  logger: false,
});
// Joi refuses numbers beyond 2^53 and makes 0 of -0.
ajv.addFormat('safe', {
  type: 'number',
  validate: (value) => Math.abs(value) <= Number.MAX_SAFE_INTEGER && !Object.is(value, -0),
});
ajv.addKeyword({
  keyword: 'customs',
  type: 'string',
  compile: (customs: readonly Custom[]) => (value: unknown) =>
    customs.every((custom) => custom(value, helpers) === value),
});

/**
 * Ajv's check of Joi's own JSON Schema, which takes a tenth of Joi's time. What JSON Schema cannot say, such as a dependency
 * between members, is refused here, so that Joi decides.
 */
export function compileSchema(schema: Joi.Schema): Accepts {
  let check: Accepts | undefined;
  return (value) => {
    check ??= ajv.compile(
      exactly(
        schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' }),
        schema.describe() as Description,
      ),
    );
    return check(value);
  };
}

/** The schema of the values for which `json` means the same as Joi's description. */
function exactly(json: Json, description: Description): AnySchema {
  if (!isSaid(description)) return false;
  const { type, rules = [], keys, items, matches } = description;
  const customs = rules.flatMap(({ args }) => args?.method ?? []);
  const parts = json as { properties?: Record<string, Json>; items?: Json; anyOf?: readonly Json[] };
  const schema: Record<string, unknown> = { ...json };
  if (type === 'number' && !('enum' in json)) schema.format = 'safe';
  if (customs.length > 0) schema.customs = customs;
  if (keys)
    schema.properties = Object.fromEntries(
      Object.entries(keys).map(([name, one]) => [name, exactly(parts.properties?.[name] ?? {}, one)]),
    );
  if (items) schema.items = items.length === 1 && items[0] ? exactly(parts.items ?? {}, items[0]) : false;
  if (matches)
    schema.anyOf = matches.map((one, i) =>
      one.schema ? exactly(parts.anyOf?.[i] ?? {}, one.schema) : false,
    );
  return schema;
}

const isSaid = ({ type = '', flags = {}, rules = [], ...rest }: Description): boolean =>
  TYPES.has(type) &&
  flags.presence !== 'forbidden' &&
  Object.keys(flags).every((name) => FLAGS.has(name)) &&
  rules.every(({ name }) => RULES.has(name)) &&
  Object.keys(rest).every((name) => PARTS.has(name));
