import type { Json } from '../schema';
import { ACCOUNT_SCHEMAS } from './accounts';
import { BOOK_SCHEMAS } from './books';
import { CHAIN_SCHEMAS } from './chain';
import { COMMON_SCHEMAS } from './common';
import { MARKET_SCHEMAS } from './markets';
import { OPERATOR_SCHEMAS } from './operators';
import { ORDER_SCHEMAS } from './orders';
import { PROBLEM_SCHEMAS } from './problems';
import { SYSTEM_SCHEMAS } from './system';
import { TRADER_SCHEMAS } from './traders';

/** Every named schema of the core. Each group of resources has a file; add a new group here. */
export const SCHEMAS: Readonly<Record<string, Json>> = {
  ...COMMON_SCHEMAS,
  ...PROBLEM_SCHEMAS,
  ...MARKET_SCHEMAS,
  ...BOOK_SCHEMAS,
  ...ORDER_SCHEMAS,
  ...ACCOUNT_SCHEMAS,
  ...TRADER_SCHEMAS,
  ...SYSTEM_SCHEMAS,
  ...OPERATOR_SCHEMAS,
  ...CHAIN_SCHEMAS,
};
