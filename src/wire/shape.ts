import type Joi from 'joi';
import { Refusal } from '../exchange/errors';

/** What a body must look like. `schema` is also what OpenAPI shows. */
export interface Shape<T> {
  readonly schema: Joi.Schema;
  /** Throws INVALID_REQUEST or INVALID_ADDRESS with `errors`. */
  parse(value: unknown): T;
}

interface FieldError {
  readonly path: string;
  readonly message: string;
}

/** Told of one body; a hostile one could have thousands. */
const ERRORS_MAX = 20;
/** Name of the pattern of addresses: a malformed one has a code of its own. */
export const ADDRESS_PATTERN = 'address';

/**
 * Words of our own instead of joi's. Not as joi's `messages`: it would compile them anew for every body, which takes
 * longer than the rest of its check.
 */
const WORDS: Readonly<Record<string, (context: Joi.Context) => string>> = {
  'string.pattern.base': ({ regex }) => `must match ${regex}`,
  'string.pattern.name': ({ name }) => `must be a valid ${name}`,
  'string.uint256': () => 'must be below 2^256',
  'object.unknown': () => 'is not allowed',
};

export function createShape<T>(schema: Joi.Schema): Shape<T> {
  const strict = schema.prefs({ convert: false, abortEarly: false, errors: { label: false } });
  return {
    schema,
    parse: (value) => {
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
  const first = errors[0];
  const detail = first ? `${first.path || 'the body'} ${first.message}` : undefined;
  return new Refusal(addresses ? 'INVALID_ADDRESS' : 'INVALID_REQUEST', detail, { errors });
}
