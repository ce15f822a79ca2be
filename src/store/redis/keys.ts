import type { MarketId } from '../../exchange/market';

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
  /** list: every market, in the order in which they were created. */
  readonly marketList: string;
  /** hash: slug, condition id or id -> market id. */
  readonly marketNames: string;
  /** hash: reader of the outbox -> last entry id it has finished with. */
  readonly readers: string;
  /** string: code of the exchange's mode, absent for NORMAL. */
  readonly mode: string;
  /** sorted set: market -> the millisecond at which it closes, while it is traded. */
  readonly closes: string;
  /** set: markets that are over and may have orders to cancel or holders to pay. */
  readonly ending: string;
  /** sorted set: name of an operator's action -> when; hash: the same -> what it was. */
  readonly actions: string;
  readonly actionRecords: string;
  /** hash: account -> what it held of a market that has ended and what it was paid (lua/lib/resolution.lua). */
  paid(id: MarketId): string;
  /** hash: wallet (20 bytes) -> the nonce below which its open orders are still to be invalidated. */
  readonly raisedNonces: string;
  /** hash: `name` of the unbroken history of this data, `run` id of the Redis that held it last. */
  readonly epoch: string;
  /** string: there while a backup is being put back (src/store/backup/). */
  readonly restoring: string;
  /** hash: market id -> up to which match its candles are counted (src/store/records/candle.ts). */
  readonly candleMarks: string;
  market(id: MarketId): string;
  bids(id: MarketId): string;
  asks(id: MarketId): string;
  trades(id: MarketId): string;
  tokens(id: MarketId): string;
  wallet(address: Buffer): Buffer;
  /** hash: what the wallet says of itself (lua/edit_profile.lua). */
  profile(address: Buffer): Buffer;
  /** hash: username in lower case -> wallet (20 bytes). */
  readonly usernames: string;
  /** hash: number -> comment (lua/lib/comments.lua). */
  comments(id: MarketId): string;
  /** set: wallets that like the comment. */
  commentLikes(id: MarketId, number: number): string;
  /** hash: market id -> the wallet's positions in it (src/store/records/position.ts). */
  positions(address: Buffer): Buffer;
  /** list: what happened to the wallet, oldest first. */
  journal(address: Buffer): Buffer;
  holdings(address: Buffer): Buffer;
  /** string: counts the changes of profiles and comments, so that a kept answer is known to stand. */
  readonly talk: string;
  operation(id: string): string;
  /** string: the market's candles of so many seconds with trades, packed, oldest first. */
  candles(id: MarketId, seconds: number): string;
  /** string: token of the process that broadcasts. */
  readonly lease: string;
  /** zset: wallet (20 bytes) -> ms at which its orders are cancelled unless it was seen again. */
  readonly absences: string;
  /** stream: updates of the book as they were broadcast, each under its sequence. */
  updates(id: MarketId): string;
  /** hash: name of a settlement -> its record (lua/lib/settlements.lua). */
  readonly settlements: string;
  /** stream: their names, oldest first. */
  readonly settlementList: string;
  /** sorted set: those that are not CONFIRMED. */
  readonly unsettled: string;
  /** hash: market id -> entry id of its matches up to which every settlement is final. */
  readonly settledUpTo: string;
  /** string: token of the process that makes jobs of matches. */
  readonly relayLease: string;
  settlementListOf(id: MarketId): string;
}

/** How long an operation (`keys.operation`) is remembered, so that a repetition changes nothing. */
export const OPERATION_MEMORY_MS = 3_600_000;

const TAG_START = '{x';
const TAG_END = '}:';

/**
 * The door of the shard the key is in: a key that never exists; null for a key of no shard. Every script of a shard
 * declares it, because scripts touch keys that only the records name. While the slot moves to another node of a cluster,
 * Redis looks for the declared keys before it runs anything, misses this one on both nodes, and answers TRYAGAIN. Without
 * it a script would run up to the first key that has moved, and end there in the middle of its writes.
 */
export function doorOf(key: string | Buffer | undefined): string | null {
  const text = typeof key === 'string' ? key : (key?.toString('latin1') ?? '');
  return text.startsWith(TAG_START) ? `${text.slice(0, text.indexOf(TAG_END))}${TAG_END}door` : null;
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
    marketList: `${prefix}ml`,
    marketNames: `${prefix}mn`,
    readers: `${prefix}readers`,
    mode: `${prefix}mode`,
    epoch: `${prefix}epoch`,
    restoring: `${prefix}restoring`,
    closes: `${prefix}closes`,
    actions: `${prefix}al`,
    actionRecords: `${prefix}alr`,
    ending: `${prefix}ending`,
    paid: (id) => `${market(id)}:paid`,
    market,
    bids: (id) => `${market(id)}:b`,
    asks: (id) => `${market(id)}:a`,
    trades: (id) => `${market(id)}:t`,
    tokens: (id) => `${market(id)}:bal`,
    wallet: (address) => raw('u', address),
    profile: (address) => raw('p', address),
    usernames: `${prefix}pn`,
    talk: `${prefix}talk`,
    comments: (id) => `${market(id)}:co`,
    commentLikes: (id, number) => `${market(id)}:cl:${number}`,
    positions: (address) => raw('ps', address),
    journal: (address) => raw('ac', address),
    holdings: (address) => raw('w', address),
    operation: (id) => `${prefix}op:${id}`,
    raisedNonces: `${prefix}nn`,
    candleMarks: `${prefix}cm`,
    candles: (id, seconds) => `${market(id)}:c${seconds}`,
    settlements: `${prefix}st`,
    settlementList: `${prefix}sl`,
    unsettled: `${prefix}su`,
    settledUpTo: `${prefix}sw`,
    settlementListOf: (id) => `${market(id)}:sl`,
    relayLease: `${prefix}relay`,
    lease: `${prefix}lease`,
    absences: `${prefix}away`,
    updates: (id) => `${market(id)}:u`,
  };
}
