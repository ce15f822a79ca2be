import type Joi from 'joi';
import { type ErrorCode, Refusal } from '../exchange/errors';
import { compileSchema } from './compiled';
import { ERRORS_MAX, excessOf, extentOf, type FieldError } from './extent';

/** The shape of a body. `schema` is also what OpenAPI shows. */
export interface Shape<T> {
  readonly schema: Joi.Schema;
  /** Throws INVALID_REQUEST or INVALID_ADDRESS with `errors`. */
  parse(value: unknown): T;
}

/** Name of the pattern of addresses, because a malformed address has its own code. */
export const ADDRESS_PATTERN = 'address';

/**
 * Messages of the exchange instead of joi's. They are not passed as joi's `messages`, because joi would compile them again
 * for every body, which takes longer than the rest of its check.
 */
const WORDS: Readonly<Record<string, (context: Joi.Context) => string>> = {
  'string.pattern.base': ({ regex }) => `must match ${regex}`,
  'string.pattern.name': ({ name }) => `must be a valid ${name}`,
  'string.uint256': () => 'must be below 2^256',
  'object.unknown': () => 'is not allowed',
  'any.only': ({ valids }) => oneOf(valids),
};

/** A number that is also accepted as text is named once. */
function oneOf(valids: readonly unknown[]): string {
  const choices = [...new Set(valids.map(String))];
  return choices.length === 1 ? `must be ${choices[0]}` : `must be one of [${choices.join(', ')}]`;
}

const LONE_SURROGATE = /\p{Cs}/u;

/** Half a surrogate pair has no UTF-8, and a script that reads it as JSON fails. */
export const isUnicode = (text: string): boolean => !LONE_SURROGATE.test(text);

/** Ajv checks a body first, because Joi takes ten times as long; what Ajv does not accept, Joi decides and explains. */
export function createShape<T>(schema: Joi.Schema): Shape<T> {
  const strict = schema.prefs({ convert: false, abortEarly: false, errors: { label: false } });
  const extent = extentOf(schema);
  const accepts = compileSchema(schema);
  return {
    schema,
    parse: (value) => {
      if (accepts(value)) return value as T;
      const excess = excessOf(value, extent);
      if (excess) throw refusalNaming('INVALID_REQUEST', excess);
      const { error, value: body } = strict.validate(value);
      if (error) throw refusalOf(error);
      return body as T;
    },
  };
}

function refusalOf({ details }: Joi.ValidationError): Refusal {
  const errors: FieldError[] = details.slice(0, ERRORS_MAX).map(({ path, message, type, context }) => ({
    path: path.join('.'),
    message: WORDS[type]?.(context ?? {}) ?? message,
  }));
  const addresses = details.every(
    ({ type, context }) => type === 'string.pattern.name' && context?.name === ADDRESS_PATTERN,
  );
  return refusalNaming(addresses ? 'INVALID_ADDRESS' : 'INVALID_REQUEST', errors);
}

function refusalNaming(code: ErrorCode, errors: readonly FieldError[]): Refusal {
  const first = errors[0];
  const detail = first ? `${first.path || 'the body'} ${first.message}` : undefined;
  return new Refusal(code, detail, { errors });
}
