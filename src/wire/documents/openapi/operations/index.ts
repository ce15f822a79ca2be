import type { Operations } from '../operation';
import { ACCOUNT_OPERATIONS } from './account';
import { ADMIN_OPERATIONS } from './admin';
import { AUTH_OPERATIONS } from './auth';
import { CANCEL_OPERATIONS } from './cancels';
import { LIFECYCLE_OPERATIONS } from './lifecycle';
import { MARKET_OPERATIONS } from './markets';
import { ORDER_OPERATIONS } from './orders';
import { SYSTEM_OPERATIONS } from './system';

/** Every operation of the core. Each has a row in docs/use/endpoints.md. Tests check both, and that each operation is an endpoint. */
export const OPERATIONS: Operations = {
  ...AUTH_OPERATIONS,
  ...MARKET_OPERATIONS,
  ...ORDER_OPERATIONS,
  ...CANCEL_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...ADMIN_OPERATIONS,
  ...LIFECYCLE_OPERATIONS,
  ...SYSTEM_OPERATIONS,
};
