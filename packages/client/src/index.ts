/** A client of the exchange for Node and browsers: calls, orders, live books. It depends only on the public interface. */
export type { CancelAllFilter } from './account';
export { complementPrice, formatDecimal, parseDecimal } from './amounts';
export { type Book, type BookLevel, type BookSides, checksumOf, viewOf } from './book';
export { buildOrder, type OrderParams, type OrderTerms, signOrder } from './build-order';
export { type Client, type ClientOptions, createClient } from './client';
export { type ClientCode, ExchangeError } from './errors';
export type { LiveState } from './following';
export { orderSocket } from './lane';
export {
  connectLive,
  type Live,
  type LiveBook,
  type LiveOptions,
  type MarketsHandlers,
  type WatchHandlers,
} from './live';
export { isBooked, type NewOrder, type Placed, type PlaceOptions, type Replaced } from './orders';
export { walk } from './reads';
export type { Session, Signer } from './sessions';
export { siweText } from './siwe';
export {
  callsOf,
  type ExecutingWallet,
  isContractAt,
  type SendOptions,
  type SendTo,
  sendCalls,
  type TransactionSigner,
} from './transactions';
export type { Fetch } from './transport';
export type * from './types';
export type * from './types-account';
export type * from './types-balances';
export type * from './types-chain';
export type * from './types-data';
export type * from './types-keys';
export type * from './types-limits';
export type * from './types-live';
export type * from './types-portfolio';
