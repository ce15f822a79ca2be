import { PATHS } from '../../../paths';
import { newKeyShape } from '../../../requests/keys';
import { emptyShape } from '../../../requests/orders';
import { MATCHED_AT } from '../examples/story';
import type { Operations } from '../operation';

const KEY = {
  id: '5f0c6d2b9a3e7148',
  name: 'market maker, host 2',
  scopes: ['read', 'cancel'],
  createdAt: MATCHED_AT,
  expiresAt: null,
};

/** A wallet's API keys. */
export const KEY_OPERATIONS: Operations = {
  [`POST ${PATHS.myKeys}`]: {
    id: 'createApiKey',
    tag: 'Account',
    summary: 'Make an API key',
    description:
      'A bearer that lasts and may do less than the wallet: it stands wherever an access token does, within its scopes, over HTTP and as `auth.token` of a socket. Orders need the signature of the wallet all the same. At most 20 of a wallet. No key makes keys.',
    bearer: 'required',
    limited: true,
    body: { shape: newKeyShape, example: { name: 'market maker, host 2', scopes: ['read', 'cancel'] } },
    success: {
      status: 201,
      description: 'The key; it is told this once.',
      schema: 'NewApiKey',
      example: {
        ...KEY,
        key: 'key_85_W5RqtiPb0zmq4gnJ5z_-5ImZfDG0rmj5xSNlLwo1LqrrTpBE-1V46NZqyhVQ-r8zCGT-6G3nO5lrY',
      },
    },
  },
  [`GET ${PATHS.myKeys}`]: {
    id: 'listApiKeys',
    tag: 'Account',
    summary: "The wallet's API keys, newest first",
    description: 'Without the keys themselves.',
    bearer: 'required',
    limited: true,
    success: { description: 'All of them.', schema: 'ApiKeys', example: { data: [KEY] } },
  },
  [`DELETE ${PATHS.myKey}`]: {
    id: 'deleteApiKey',
    tag: 'Account',
    summary: 'Delete an API key',
    description: 'It is refused from then on, and its sockets end.',
    bearer: 'required',
    limited: true,
    body: { shape: emptyShape, example: {}, optional: true },
    success: { status: 204, description: 'Deleted.' },
    codes: ['NOT_FOUND'],
  },
};
