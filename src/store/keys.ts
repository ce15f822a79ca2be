import type { MarketId } from '../exchange/market';

/**
 * Every key of the exchange's own data, in one place. All of a shard share one hash tag, because collateral is shared
 * by all markets and one script must see a market and its traders' balances; see docs/architecture.md.
 * The Lua libraries build the same names from `prefix` (each names its keys in its header).
 */
export interface ShardKeys {
  readonly prefix: string;
  readonly orders: string;
  readonly cash: string;
  readonly expiries: string;
  readonly outbox: string;
  readonly sums: string;
  /** hash: market id -> JSON of its terms and texts. */
  readonly markets: string;
  /** hash: slug, condition id or id -> market id. */
  readonly marketNames: string;
  /** hash: reader of the outbox -> last entry id it has finished with. */
  readonly readers: string;
  /** string: code of the exchange's mode, absent for NORMAL. */
  readonly mode: string;
  market(id: MarketId): string;
  bids(id: MarketId): string;
  asks(id: MarketId): string;
  trades(id: MarketId): string;
  tokens(id: MarketId): string;
  wallet(address: Buffer): Buffer;
  holdings(address: Buffer): Buffer;
  operation(id: string): string;
}

export function shardKeys(shard = 0): ShardKeys {
  const prefix = `{x${shard}}:`;
  const market = (id: MarketId) => `${prefix}m:${id}`;
  const raw = (kind: string, address: Buffer) => Buffer.concat([Buffer.from(`${prefix}${kind}:`), address]);
  return {
    prefix,
    orders: `${prefix}o`,
    cash: `${prefix}bal`,
    expiries: `${prefix}exp`,
    outbox: `${prefix}out`,
    sums: `${prefix}sum`,
    markets: `${prefix}mk`,
    marketNames: `${prefix}mn`,
    readers: `${prefix}readers`,
    mode: `${prefix}mode`,
    market,
    bids: (id) => `${market(id)}:b`,
    asks: (id) => `${market(id)}:a`,
    trades: (id) => `${market(id)}:t`,
    tokens: (id) => `${market(id)}:bal`,
    wallet: (address) => raw('u', address),
    holdings: (address) => raw('w', address),
    operation: (id) => `${prefix}op:${id}`,
  };
}
