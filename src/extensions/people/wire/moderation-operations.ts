import { BALANCES } from '../../../wire/documents/openapi/examples/orders';
import type { Operations } from '../../../wire/documents/openapi/operation';
import { emptyShape } from '../../../wire/requests/orders';
import { PROFILE } from './examples';
import { PEOPLE_PATHS } from './paths';
import { profileResetShape } from './requests';

/** The operators' moderation. */
export const MODERATION_OPERATIONS: Operations = {
  [`DELETE ${PEOPLE_PATHS.adminComment}`]: {
    id: 'moderateComment',
    tag: 'Operators',
    summary: 'Remove a comment',
    description:
      'Removes the comment of any wallet. The comment keeps its place in the list, with an empty `body` and no likes, and its replies stay. Removing it again changes nothing.',
    bearer: 'admin',
    body: { shape: emptyShape, example: {}, optional: true },
    success: { status: 204, description: 'Deleted.' },
  },
  [`PATCH ${PEOPLE_PATHS.adminProfile}`]: {
    id: 'resetProfile',
    tag: 'Operators',
    summary: 'Clear parts of a profile',
    description: 'Set each part to null or leave it out. A cleared username is free at once.',
    bearer: 'admin',
    body: { shape: profileResetShape, example: { username: null } },
    success: {
      description: 'The current profile.',
      schema: 'Profile',
      example: { ...PROFILE, username: null },
    },
  },
  [`GET ${PEOPLE_PATHS.adminAccount}`]: {
    id: 'getAccount',
    tag: 'Operators',
    summary: "A wallet's account",
    description:
      'Its profile, when it was first seen (`joinedAt`; null for an unknown wallet), its balances, and the numbers of its positions and open orders.',
    bearer: 'admin',
    limited: true,
    success: {
      description: 'The wallet.',
      schema: 'AdminAccount',
      example: { ...PROFILE, muted: false, balances: BALANCES, positions: 1, openOrders: 2 },
    },
  },
};
