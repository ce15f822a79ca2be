import { PATHS } from '../../../paths';
import { emptyShape } from '../../../requests/orders';
import { profileResetShape } from '../../../requests/social';
import { BALANCES } from '../examples/orders';
import { PROFILE } from '../examples/traders';
import type { Operations } from '../operation';

/** The operators' moderation. */
export const MODERATION_OPERATIONS: Operations = {
  [`DELETE ${PATHS.adminComment}`]: {
    id: 'moderateComment',
    tag: 'Operators',
    summary: 'Remove a comment',
    description:
      'Whoever wrote it. It keeps its place, with an empty `body` and without likes, and so do the answers to it. Doing it again changes nothing.',
    bearer: 'admin',
    body: { shape: emptyShape, example: {}, optional: true },
    success: { status: 204, description: 'Deleted.' },
  },
  [`PATCH ${PATHS.adminProfile}`]: {
    id: 'resetProfile',
    tag: 'Operators',
    summary: 'Clear parts of a profile',
    description: 'Each part is null or left out. A username that is taken away is free at once.',
    bearer: 'admin',
    body: { shape: profileResetShape, example: { username: null } },
    success: {
      description: 'The profile as it now stands.',
      schema: 'Profile',
      example: { ...PROFILE, username: null },
    },
  },
  [`GET ${PATHS.adminAccount}`]: {
    id: 'getAccount',
    tag: 'Operators',
    summary: "A wallet's account",
    description:
      'Its profile, when it was first seen (`joinedAt`; null for a wallet that never came), its balances, and how many positions and open orders it has.',
    bearer: 'admin',
    limited: true,
    success: {
      description: 'The wallet.',
      schema: 'AdminAccount',
      example: { ...PROFILE, balances: BALANCES, positions: 1, openOrders: 2 },
    },
  },
};
