import type { Shape } from '../../shape';

/** A JSON Schema (2020-12), or a part of the document. */
export type Json = Readonly<Record<string, unknown>>;

/** Refers to a schema by its name among the components, which both documents keep at the same place. */
export const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** An object with exactly these members; all but the `optional` ones are required. */
export function object(properties: Readonly<Record<string, Json>>, optional: readonly string[] = []): Json {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

export const array = (items: Json, more: Json = {}): Json => ({ type: 'array', items, ...more });
export const nullable = (schema: Json): Json => ({ anyOf: [schema, { type: 'null' }] });
export const choice = (values: readonly string[], description?: string): Json =>
  described({ type: 'string', enum: values }, description);
export const text = (description?: string, more: Json = {}): Json =>
  described({ type: 'string', ...more }, description);
export const integer = (description?: string, more: Json = {}): Json =>
  described({ type: 'integer', minimum: 0, ...more }, description);
export const flag = (description?: string): Json => described({ type: 'boolean' }, description);
/** An enum of one value with its type: some generators write a `const` with an apostrophe wrong, or without its type. */
export const constant = (value: string | number | boolean): Json => ({
  type: typeof value === 'number' ? 'integer' : typeof value,
  enum: [value],
});

export const described = (schema: Json, description?: string): Json =>
  description === undefined ? schema : { ...schema, description };

/** A page of a list: `{ data, nextCursor }`. */
export const page = (items: Json): Json => object({ data: array(items), nextCursor: ref('Cursor') });

/** The schema with one property replaced. */
export const withProperty = (schema: Json, name: string, property: Json): Json => ({
  ...schema,
  properties: { ...(schema.properties as Json), [name]: property },
});

/** Joi's own JSON Schema of a shape. */
export const jsonSchemaOf = ({ schema }: Shape<unknown>): Json =>
  schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
