import { MATCHED_AT } from '../../../wire/documents/openapi/examples/story';
import type { Operations } from '../../../wire/documents/openapi/operation';
import { emptyShape } from '../../../wire/requests/orders';
import { newKeyShape } from './key-requests';
import { PEOPLE_PATHS } from './paths';

const KEY = {
  id: '5f0c6d2b9a3e7148',
  name: 'market maker, host 2',
  scopes: ['read', 'cancel'],
  createdAt: MATCHED_AT,
  expiresAt: null,
};

/** A wallet's API keys. */
export const KEY_OPERATIONS: Operations = {
  [`POST ${PEOPLE_PATHS.myKeys}`]: {
    id: 'createApiKey',
    tag: 'Account',
    summary: 'Create an API key',
    description:
      'An API key is a long-lived bearer with limited scopes. Within its scopes it replaces an access token, over HTTP and as `auth.token` of a socket. Orders still need the signature of the wallet. A wallet may have 20 keys. A key cannot create keys.',
    bearer: 'required',
    limited: true,
    body: { shape: newKeyShape, example: { name: 'market maker, host 2', scopes: ['read', 'cancel'] } },
    success: {
      status: 201,
      description: 'The key, which is shown only in this answer.',
      schema: 'NewApiKey',
      example: {
        ...KEY,
        key: 'key_85_W5RqtiPb0zmq4gnJ5z_-5ImZfDG0rmj5xSNlLwo1LqrrTpBE-1V46NZqyhVQ-r8zCGT-6G3nO5lrY',
      },
    },
  },
  [`GET ${PEOPLE_PATHS.myKeys}`]: {
    id: 'listApiKeys',
    tag: 'Account',
    summary: "The wallet's API keys, newest first",
    description: 'The list does not contain the keys themselves.',
    bearer: 'required',
    limited: true,
    success: { description: 'All API keys of the wallet.', schema: 'ApiKeys', example: { data: [KEY] } },
  },
  [`DELETE ${PEOPLE_PATHS.myKey}`]: {
    id: 'deleteApiKey',
    tag: 'Account',
    summary: 'Delete an API key',
    description: 'The exchange refuses the key from then on and closes its sockets.',
    bearer: 'required',
    limited: true,
    body: { shape: emptyShape, example: {}, optional: true },
    success: { status: 204, description: 'Deleted.' },
    codes: ['NOT_FOUND'],
  },
};
