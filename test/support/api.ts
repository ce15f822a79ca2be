import { apiOf, EXTENSIONS } from '../../src/app/extensions';
import { openApiDocument } from '../../src/wire/documents/openapi/document';

/** The interface of an exchange with every extension. */
export const API = apiOf(EXTENSIONS);

export const OPEN_API = openApiDocument(API);
