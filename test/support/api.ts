import { apiOf, EXTENSIONS } from '../../src/app/extensions';
import { openApiDocument } from '../../src/wire/documents/openapi/document';

/** The interface of an exchange with every extension. */
export const API = apiOf(EXTENSIONS);

export const OPEN_API = openApiDocument(API);

/** Its paths, as in `/markets/{id}`. */
export const API_PATHS: readonly string[] = Object.keys(OPEN_API.paths as object);
