import type { MarketId, OutcomeIndex } from '../../exchange/market';
import { type ChannelKeys, channelKeys } from './channel-keys';
import { type DirectoryKeys, directoryKeys } from './directory-keys';
import { tagOf } from './tags';

declare const NAME: unique symbol;
/** A key whose type carries its name, so that a caller cannot pass the wrong key to a script (verbs.ts). */
interface Named<Name extends string> {
  readonly [NAME]: Name;
}
export type TextKey<Name extends string> = string & Named<Name>;
/** A wallet: the key contains its address unchanged. */
export type ByteKey<Name extends string> = Buffer & Named<Name>;
export type Key<Name extends string> = TextKey<Name> | ByteKey<Name>;
/** The names of the keys of scripts. */
export type KeyName = Exclude<keyof Keys, 'prefix'> | 'session' | 'nonce' | 'apiKeys' | 'allowance';

/**
 * Every key of the exchange's own data, in one place. All keys of a shard share one hash tag, because all markets share
 * collateral, and one script must see a market and its traders' balances; see docs/inside/engine.md.
 * The Lua libraries build the same names from `prefix` (each names its keys in its header).
 */
export interface Keys extends ChannelKeys, DirectoryKeys {
  readonly prefix: string;
  readonly orders: TextKey<'orders'>;
  readonly cash: TextKey<'cash'>;
  readonly expiries: TextKey<'expiries'>;
  readonly outbox: TextKey<'outbox'>;
  readonly sums: TextKey<'sums'>;
  /** hash: market id -> JSON of its terms and texts. */
  readonly markets: TextKey<'markets'>;
  /** list: every market, in the order in which they were created. */
  readonly marketList: TextKey<'marketList'>;
  /** hash: slug, condition id or id -> market id. */
  readonly marketNames: TextKey<'marketNames'>;
  /** hash: slug of an event -> the number of its markets, and its title (lua/create_market.lua). */
  readonly events: TextKey<'events'>;
  /** hash: reader of the outbox -> id of the last entry that it has processed. */
  readonly readers: TextKey<'readers'>;
  /** string: code of the exchange's mode, absent for NORMAL. */
  readonly mode: TextKey<'mode'>;
  /** string: the code of the mode, then its message (lua/set_mode.lua). */
  readonly notice: TextKey<'notice'>;
  /** sorted set: open market -> the millisecond at which it closes. */
  readonly closes: TextKey<'closes'>;
  /** set: markets that have ended and may have orders to cancel or holders to pay. */
  readonly ending: TextKey<'ending'>;
  /** hash: when `exchange backup` and `exchange audit` succeeded and failed last, milliseconds; only in the first shard. */
  readonly runs: TextKey<'runs'>;
  /** sorted set: name of an operator's action -> time; hash: name -> action. */
  readonly actions: TextKey<'actions'>;
  readonly actionRecords: TextKey<'actionRecords'>;
  /** hash: account -> its tokens of a market that has ended, and its payout (lua/lib/resolution.lua). */
  paid(id: MarketId): TextKey<'paid'>;
  /** hash: wallet (20 bytes) -> the nonce below which its open orders are still to be invalidated. */
  readonly raisedNonces: TextKey<'raisedNonces'>;
  /** hash: `name` of the unbroken history of this data, `run` id of the Redis that held it last. */
  readonly epoch: TextKey<'epoch'>;
  /** hash: `layout` of the data, `oldest` layout whose programs may read it (src/store/health/layout.ts), `resolveDelayMs` of web. */
  readonly layout: TextKey<'layout'>;
  /** string: exists while a backup is being restored (src/extensions/backup/store/). */
  readonly restoring: TextKey<'restoring'>;
  /** hash: market id -> the last match in its candles (src/store/records/candle.ts). */
  readonly candleMarks: TextKey<'candleMarks'>;
  market(id: MarketId): TextKey<'market'>;
  bids(id: MarketId): TextKey<'bids'>;
  asks(id: MarketId): TextKey<'asks'>;
  trades(id: MarketId): TextKey<'trades'>;
  tokens(id: MarketId): TextKey<'tokens'>;
  wallet(address: Buffer): ByteKey<'wallet'>;
  /** hash: the wallet's profile (src/extensions/people/lua/edit_profile.lua). */
  profile(address: Buffer): ByteKey<'profile'>;
  /** hash: username in lower case -> wallet (20 bytes). */
  readonly usernames: TextKey<'usernames'>;
  /** sorted set, all scores 0: the wallets that take part in the leaderboard (src/extensions/people/lua/edit_profile.lua). */
  readonly contestants: TextKey<'contestants'>;
  /** hash: the ranking of the week that is shown, and the next one as far as it is (src/extensions/portfolio/store/leaderboard.ts). */
  readonly leaderboard: TextKey<'leaderboard'>;
  /** hash: number -> comment (src/extensions/people/lua/lib/comments.lua). */
  comments(id: MarketId): TextKey<'comments'>;
  /** set: wallets that like the comment. */
  commentLikes(id: MarketId, number: number): TextKey<'commentLikes'>;
  /** sorted set: the places of the wallet's latest comments (src/extensions/people/lua/lib/comments.lua). */
  walletComments(address: Buffer): ByteKey<'walletComments'>;
  /** hash: market id -> the wallet's positions in it (src/extensions/portfolio/store/records.ts). */
  positions(address: Buffer): ByteKey<'positions'>;
  /** sorted set: wallet (20 bytes) -> its tokens of the outcome (src/extensions/portfolio/lua/lib/holders.lua). */
  holders(id: MarketId, outcome: OutcomeIndex): TextKey<'holders'>;
  /** list: the events of the wallet, oldest first. */
  journal(address: Buffer): ByteKey<'journal'>;
  /** list: a journal that will replace the wallet's, while it is written. */
  journalDraft(address: Buffer, id: string): ByteKey<'journalDraft'>;
  holdings(address: Buffer): ByteKey<'holdings'>;
  /** string: counts the changes of profiles and comments; a cached answer is valid while the count is the same. */
  readonly talk: TextKey<'talk'>;
  operation(id: string | null): TextKey<'operation'>;
  /** string: the market's candles of one period with trades, packed, oldest first. */
  candles(id: MarketId, seconds: number): TextKey<'candles'>;
  /** string: token of the process that broadcasts. */
  readonly lease: TextKey<'lease'>;
  /** zset: wallet (20 bytes) -> ms at which its orders are cancelled unless its presence is renewed. */
  readonly absences: TextKey<'absences'>;
  /** stream: the events of the wallet, each under its number, while its sockets need them (lua/open_log.lua). */
  accountLog(address: Buffer): ByteKey<'accountLog'>;
  /** hash: the last outbox entry in these logs (lua/log_events.lua); exists while a log does. */
  readonly accountMarks: TextKey<'accountMarks'>;
  /** stream: updates of the book as they were broadcast, each under its sequence. */
  updates(id: MarketId): TextKey<'updates'>;
  /** hash: name of a settlement -> its record (lua/lib/settlements.lua). */
  readonly settlements: TextKey<'settlements'>;
  /** stream: their names, oldest first. */
  readonly settlementList: TextKey<'settlementList'>;
  /** sorted set: those that are not CONFIRMED. */
  readonly unsettled: TextKey<'unsettled'>;
  /** hash: market id -> entry id of its matches up to which every settlement is final. */
  readonly settledUpTo: TextKey<'settledUpTo'>;
  /** string: token of the process that makes jobs of matches. */
  readonly relayLease: TextKey<'relayLease'>;
  /** hash: the archive of this exchange, and how far it is (lua/lib/archive.lua). */
  readonly archive: TextKey<'archive'>;
  /** string: token of the process that archives. */
  readonly archiveLease: TextKey<'archiveLease'>;
  /** string: token of the process that observes the chain. */
  readonly observerLease: TextKey<'observerLease'>;
  /** hash: wallet (20 bytes) -> how many of its orders and lines have left for the archive (lua/lib/archive.lua). */
  readonly forgotten: TextKey<'forgotten'>;
  settlementListOf(id: MarketId): TextKey<'settlementListOf'>;
  /** set: markets that open once the chain knows them (src/extensions/chain/store/requests.ts). */
  readonly opening: TextKey<'opening'>;
  /** hash: market id -> the result that the oracle is to report to the chain. */
  readonly results: TextKey<'results'>;
  /** hash: wallet -> when it asked the faucet of a test network, and whether it was served; `serves` -> when a worker served last. */
  readonly faucet: TextKey<'faucet'>;
  /** hash: the chain that has the funds, absent with paper funds (src/extensions/chain/lua/note_funds.lua). */
  readonly funds: TextKey<'funds'>;
  /** hash: the latest final block that the accounts contain, and the latest block seen (src/extensions/chain/lua/lib/cursor.lua). */
  readonly cursor: TextKey<'cursor'>;
  /** list: the final blocks that the accounts had lately, newest first. */
  readonly finals: TextKey<'finals'>;
  /** set: wallets, and wallets with a market, of which something is promised (src/extensions/chain/lua/lib/ledger.lua). */
  readonly exposed: TextKey<'exposed'>;
  /** hash: wallet and asset -> a lower amount in a block that is not final (src/extensions/chain/lua/lib/caps.lua). */
  readonly caps: TextKey<'caps'>;
  /** hash: wallet -> its strikes (src/extensions/chain/lua/lib/trust.lua). */
  readonly strikes: TextKey<'strikes'>;
  /** set: orders of wallets at fault that are yet to be cancelled (src/extensions/chain/lua/lib/unfunded.lua). */
  readonly unpaid: TextKey<'unpaid'>;
  /** hash: order hash -> its lots that are settled, and those of failed matches (src/extensions/chain/lua/lib/legs.lua). */
  readonly settledLots: TextKey<'settledLots'>;
  /** hash: order hash -> its lots of failed matches that are not filled any more (src/extensions/chain/lua/lib/restoring.lua). */
  readonly returnedLots: TextKey<'returnedLots'>;
  /** hash: wallet or order hash -> from when on its lots of failed matches stay away (src/extensions/chain/lua/lib/restoring.lua). */
  readonly abandoned: TextKey<'abandoned'>;
  /** hash: wallet and asset -> how much of it has stayed there for some blocks (src/extensions/chain/lua/lib/fresh.lua). */
  readonly fresh: TextKey<'fresh'>;
  /** hash: name of a settlement -> its block and transaction, of those in blocks that are not final (src/store/settlement/mined.ts). */
  readonly mined: TextKey<'mined'>;
  /** hash: order hash -> its wallet (20 bytes), which withdrew it on the chain; it is still open here. */
  readonly withdrawn: TextKey<'withdrawn'>;
  /** hash: the operator's lanes, and who holds each (src/extensions/chain/lua/lib/intents.lua). */
  readonly lanes: TextKey<'lanes'>;
  /** hash: the transactions that the operator has signed and that no final block contains yet. */
  readonly intents: TextKey<'intents'>;
}

const OPERATION_MEMORY_MS = 3_600_000;
/**
 * The time for which an operation (`keys.operation`) is remembered, so that a repetition changes nothing; 0 for one without a
 * name, which cannot be repeated.
 */
export const memoryOf = (operation: string | null): number => (operation === null ? 0 : OPERATION_MEMORY_MS);

const TAG_START = '{x';
const TAG_END = '}:';

/**
 * A key that never exists and has the slot of a key's shard; null for a key without a shard. Every script of a shard declares it,
 * because scripts use keys that only the records name. While the slot moves to another node of a cluster, Redis looks for
 * the declared keys before it runs anything, misses this one on both nodes, and answers TRYAGAIN. Without it a script would
 * run up to the first key that has moved, and end there in the middle of its writes.
 */
export function slotKeyOf(key: string | Buffer | undefined): string | null {
  const text = typeof key === 'string' ? key : (key?.toString('latin1') ?? '');
  return text.startsWith(TAG_START) ? `${text.slice(0, text.indexOf(TAG_END))}${TAG_END}door` : null;
}

const text = <Name extends string>(key: string) => key as TextKey<Name>;
const bytes = <Name extends string>(start: string, address: Buffer) =>
  Buffer.concat([Buffer.from(start), address]) as Buffer as ByteKey<Name>;

/** The keys without a shard, each in its own slot. */
export const sessionKey = (sid: string): TextKey<'session'> => text(`{s:${sid}}`);
/** The live sessions of a wallet, by the time at which each expires (ms). */
export const walletSessionsKey = (address: string): TextKey<'session'> => text(`{s:${address}}`);
export const apiKeysKey = (address: string): TextKey<'apiKeys'> => text(`{k:${address}}`);
export const nonceKey = (nonce: string): TextKey<'nonce'> => text(`{n:${nonce}}`);
export const allowanceKey = (bucket: string, whose: string): TextKey<'allowance'> =>
  text(`rl:${bucket}:${whose}`);

const workingKeys = (
  prefix: string,
): Pick<Keys, 'lease' | 'relayLease' | 'archiveLease' | 'observerLease' | 'archive' | 'forgotten'> => ({
  lease: text(`${prefix}lease`),
  relayLease: text(`${prefix}relay`),
  archiveLease: text(`${prefix}arl`),
  observerLease: text(`${prefix}obl`),
  archive: text(`${prefix}ar`),
  forgotten: text(`${prefix}fo`),
});

/** Only with FUNDS=chain. */
type ChainKeys =
  | 'opening'
  | 'results'
  | 'faucet'
  | 'funds'
  | 'cursor'
  | 'finals'
  | 'exposed'
  | 'caps'
  | 'strikes'
  | 'unpaid'
  | 'settledLots'
  | 'returnedLots'
  | 'fresh'
  | 'abandoned'
  | 'mined'
  | 'withdrawn'
  | 'lanes'
  | 'intents';
const chainKeys = (prefix: string): Pick<Keys, ChainKeys> => ({
  opening: text(`${prefix}opening`),
  results: text(`${prefix}results`),
  faucet: text(`${prefix}faucet`),
  funds: text(`${prefix}funds`),
  cursor: text(`${prefix}ck`),
  finals: text(`${prefix}fb`),
  exposed: text(`${prefix}xp`),
  caps: text(`${prefix}cap`),
  strikes: text(`${prefix}str`),
  unpaid: text(`${prefix}up`),
  settledLots: text(`${prefix}os`),
  returnedLots: text(`${prefix}rl`),
  fresh: text(`${prefix}fr`),
  abandoned: text(`${prefix}ab`),
  mined: text(`${prefix}mb`),
  withdrawn: text(`${prefix}wd`),
  lanes: text(`${prefix}tl`),
  intents: text(`${prefix}ti`),
});

export function createKeys(shard = 0): Keys {
  const prefix = `{${tagOf(shard)}}:`;
  const market = (id: MarketId) => `${prefix}m:${id}`;
  const raw = <Name extends string>(kind: string, address: Buffer) =>
    bytes<Name>(`${prefix}${kind}:`, address);
  return {
    prefix,
    orders: text(`${prefix}o`),
    cash: text(`${prefix}bal`),
    expiries: text(`${prefix}exp`),
    outbox: text(`${prefix}out`),
    sums: text(`${prefix}sum`),
    markets: text(`${prefix}mk`),
    marketList: text(`${prefix}ml`),
    marketNames: text(`${prefix}mn`),
    events: text(`${prefix}ev`),
    readers: text(`${prefix}readers`),
    mode: text(`${prefix}mode`),
    notice: text(`${prefix}notice`),
    epoch: text(`${prefix}epoch`),
    layout: text(`${prefix}layout`),
    restoring: text(`${prefix}restoring`),
    closes: text(`${prefix}closes`),
    actions: text(`${prefix}al`),
    actionRecords: text(`${prefix}alr`),
    runs: text(`${prefix}runs`),
    ending: text(`${prefix}ending`),
    paid: (id) => text(`${market(id)}:paid`),
    market: (id) => text(market(id)),
    bids: (id) => text(`${market(id)}:b`),
    asks: (id) => text(`${market(id)}:a`),
    trades: (id) => text(`${market(id)}:t`),
    tokens: (id) => text(`${market(id)}:bal`),
    wallet: (address) => raw('u', address),
    profile: (address) => raw('p', address),
    usernames: text(`${prefix}pn`),
    contestants: text(`${prefix}po`),
    leaderboard: text(`${prefix}lb`),
    talk: text(`${prefix}talk`),
    comments: (id) => text(`${market(id)}:co`),
    commentLikes: (id, number) => text(`${market(id)}:cl:${number}`),
    walletComments: (address) => raw('cw', address),
    positions: (address) => raw('ps', address),
    holders: (id, outcome) => text(`${market(id)}:h${outcome}`),
    journal: (address) => raw('ac', address),
    journalDraft: (address, id) => raw('ac', Buffer.concat([address, Buffer.from(id)])),
    holdings: (address) => raw('w', address),
    operation: (id) => text(`${prefix}op:${id ?? ''}`),
    raisedNonces: text(`${prefix}nn`),
    candleMarks: text(`${prefix}km`),
    candles: (id, seconds) => text(`${market(id)}:k${seconds}`),
    settlements: text(`${prefix}st`),
    settlementList: text(`${prefix}sl`),
    unsettled: text(`${prefix}su`),
    settledUpTo: text(`${prefix}sw`),
    settlementListOf: (id) => text(`${market(id)}:sl`),
    ...workingKeys(prefix),
    ...chainKeys(prefix),
    ...channelKeys(prefix),
    ...directoryKeys(prefix),
    absences: text(`${prefix}away`),
    accountLog: (address) => raw('pl', address),
    accountMarks: text(`${prefix}pr`),
    updates: (id) => text(`${market(id)}:u`),
  };
}
