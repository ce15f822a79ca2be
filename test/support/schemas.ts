import type { ValidateFunction } from 'ajv/dist/2020';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { asyncApiDocument } from '../../src/wire/documents/asyncapi/document';
import { OPEN_API } from './api';

/** The schemas of both documents, each compiled when it is first used. */
const ajv = new Ajv2020({
  strict: false,
  validateSchema: false,
  // Schemas are compiled in each of jest's processes and used a few times: their code need not be the fastest.
  inlineRefs: false,
  code: { optimize: false },
});
addFormats(ajv);
ajv.addSchema(OPEN_API, 'openapi.json');
ajv.addSchema(asyncApiDocument(), 'asyncapi.json');

const validators = new Map<string, ValidateFunction>();

/** A name as part of a JSON pointer in a URI. */
export const pointerPart = (part: string): string =>
  encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

/** The differences of `value` from the schema at `pointer`, as in `openapi.json#/components/schemas/Market`. */
export function faultsAt(pointer: string, value: unknown): string[] {
  const validate = validators.get(pointer) ?? ajv.getSchema(pointer);
  if (!validate) throw new Error(`no schema at ${pointer}`);
  validators.set(pointer, validate);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${pointer}${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}
