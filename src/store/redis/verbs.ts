import type { Key, KeyName } from './keys';

export type ScriptArgument = string | number | Buffer;

/** A script: its keys in order, by their names in keys.ts; the number of arguments; and the type of its reply. */
interface Verb<Keys extends readonly Slot[], Args extends number, More extends Behind> {
  readonly keys: Keys;
  readonly args: Args;
  readonly more: More;
}
/** Any number of further keys of one name, and of further arguments. */
interface Behind {
  readonly keys?: KeyName;
  readonly args?: true;
}
type Nothing = Record<never, never>;
/** A position among the keys; a list names the keys that it accepts. */
type Slot = KeyName | readonly KeyName[];

declare const REPLY: unique symbol;
interface Replying<Reply> {
  /** Only for the compiler; no value exists. */
  readonly [REPLY]?: Reply;
}

/** The reply of many scripts: a code, the time of Redis in milliseconds, and values that explain the code. */
export type Coded<Rest extends readonly unknown[] = []> = [code: Buffer, nowMs: Buffer, ...Rest];
/** 1 when it was done; 0 when the caller must read again. */
export type Flag = number;
type Fills = [tradeMs: Buffer, sequence: Buffer, first: number, packed: Buffer];
type StreamEntry = [id: Buffer, [field: Buffer, packed: Buffer]];
type SweepReply = Coded<[rank: Buffer, behind: number, hashes: Buffer, ...touched: Buffer[]]>;

export const verb = <
  const Keys extends readonly Slot[],
  const Args extends number,
  const More extends Behind = Nothing,
>(
  keys: Keys,
  args: Args,
  more: More = {} as More,
) => ({
  replies: <Reply>(): Verb<Keys, Args, More> & Replying<Reply> => ({ keys, args, more }),
});

const BOOK = ['market', 'bids', 'asks'] as const;
const PLACE = [...BOOK, 'orders', 'cash', 'wallet', 'outbox'] as const;
export const SWEEP = ['wallet', 'orders', 'cash', 'expiries', 'outbox'] as const;
export const SETTLE = ['settlements', 'settlementList', 'unsettled', 'sums', 'outbox'] as const;

/**
 * Every script of lua/. `createScripts` is typed by this table and those of extensions (`Verbs`), so a caller that passes another
 * key does not compile. test/store/verbs.test.ts compares them with the header and the text of each script.
 */
export const VERBS = {
  // Orders. A single Buffer is the record of an order that rested (place), or its number and record (cancel).
  place_order: verb(PLACE, 3, { args: true }).replies<Buffer | Coded<Buffer[]>>(),
  replace_order: verb(PLACE, 5).replies<Coded<Buffer[]>>(),
  continue_order: verb(PLACE, 3).replies<Coded<Buffer[]>>(),
  cancel_order: verb(['orders', 'cash', 'wallet', 'expiries', 'outbox'], 5).replies<
    Buffer | [code: Buffer, record: Buffer, sequence: Buffer]
  >(),
  cancel_orders: verb([...BOOK, 'orders', 'cash', 'tokens', 'wallet', 'expiries', 'outbox'], 5).replies<
    Coded<[sequence: Buffer, ...records: (Buffer | number)[]]>
  >(),
  cancel_all: verb([...SWEEP, 'mode'], 9).replies<SweepReply>(),
  cancel_absent: verb([...SWEEP, 'mode', 'absences', 'lease'], 7).replies<SweepReply>(),
  expire_orders: verb(['expiries', 'orders', 'cash', 'outbox'], 2).replies<
    [expired: number, waiting: Flag]
  >(),
  raise_nonce: verb(['cash', 'sums', 'outbox', 'raisedNonces', 'operation', 'mode'], 4).replies<
    Coded<[nonce: Buffer, replayed?: 1]>
  >(),
  invalidate_orders: verb([...SWEEP, 'raisedNonces', 'mode'], 6).replies<
    Coded<[invalidated: number, rank: Buffer, hash: Buffer]>
  >(),

  // Money.
  credit_account: verb(['cash', 'sums', 'outbox', 'mode'], 5).replies<Coded<[detail: Buffer]>>(),
  convert_sets: verb(['market', 'cash', 'tokens', 'outbox', 'operation'], 6).replies<Coded<unknown[]>>(),
  join_wallet: verb(['profile', 'cash', 'sums', 'outbox', 'mode'], 3).replies<Flag>(),

  // Markets.
  create_market: verb(
    ['market', 'markets', 'marketNames', 'outbox', 'mode', 'closes', 'ending', 'marketList', 'events'],
    8,
  ).replies<Coded<[detail: Buffer]>>(),
  edit_market: verb(['market', 'markets', 'outbox', 'closes', 'ending'], 5).replies<
    Coded<[detail?: Buffer | number]>
  >(),
  move_market: verb(['market', 'outbox', 'closes', 'ending', 'markets'], 5).replies<
    Coded<[status: number]>
  >(),
  unresolve_market: verb(['market', 'outbox', 'ending', 'closes', 'markets'], 2).replies<
    Coded<[status: number]>
  >(),
  resolve_market: verb(['market', 'outbox', 'ending', 'closes', 'markets'], 5).replies<
    Coded<[status: number]>
  >(),
  clear_book: verb([...BOOK, 'orders', 'cash', 'tokens', 'expiries', 'outbox', 'ending'], 3).replies<
    [cancelled: number, left: Flag]
  >(),
  pay_holders: verb([...BOOK, 'tokens', 'paid', 'cash', 'outbox', 'ending'], 3).replies<
    [paid: number, left: Flag]
  >(),
  set_mode: verb(['mode', 'markets', 'notice'], 3).replies<number | [left: number, ...raised: Buffer[]]>(),

  // Settlement.
  record_settlements: verb(SETTLE, 2, { args: true }).replies<number>(),
  move_settlement: verb(SETTLE, 5).replies<Flag>(),
  mark_settled: verb(['settledUpTo'], 4).replies<Flag>(),

  // Readers of the outbox.
  hold_lease: verb([['lease', 'relayLease', 'archiveLease', 'observerLease'], 'readers'], 4).replies<Flag>(),
  release_lease: verb([['lease', 'relayLease', 'archiveLease', 'observerLease']], 1).replies<Flag>(),
  publish_updates: verb(['lease', 'readers'], 4, { keys: 'updates', args: true }).replies<Buffer>(),
  trim_outbox: verb(['outbox', 'readers', 'sums'], 3, { args: true }).replies<number>(),
  start_reader: verb(['readers', 'outbox', 'sums'], 1).replies<Buffer>(),
  open_log: verb(['accountLog', 'accountMarks', 'outbox'], 1).replies<[first: Buffer, last: Buffer]>(),
  log_events: verb(['lease', 'accountMarks', 'outbox'], 3, {
    keys: 'accountLog',
    args: true,
  }).replies<[code: Buffer, ...rest: Buffer[]]>(),
  write_candles: verb(['candleMarks'], 4, { keys: 'candles', args: true }).replies<Flag>(),

  // People.
  mark_present: verb(['absences'], 2).replies<number>(),
  take_absent: verb(['lease', 'absences'], 3).replies<Buffer[]>(),
  note_action: verb(['actions', 'actionRecords'], 2).replies<number>(),
  add_key: verb(['apiKeys'], 3, { args: true }).replies<Flag>(),
  open_session: verb(['session'], 1).replies<Buffer | number>(),
  list_session: verb(['session'], 3).replies<number>(),
  note_pair: verb(['session'], 1).replies<Flag>(),
  rotate_session: verb(['session'], 3).replies<(Buffer | number)[]>(),
  burn_nonce: verb(['nonce'], 2).replies<Flag>(),
  take_points: verb(['allowance'], 2).replies<Buffer | number>(),

  // Reads.
  read_actions: verb(['actions', 'actionRecords'], 2).replies<[name: Buffer, atMs: Buffer, json: Buffer][]>(),
  read_balances: verb(['cash', 'holdings'], 2).replies<
    [cash: Buffer, ...held: [market: Buffer, tokens: Buffer][]]
  >(),
  read_candles: verb(['candleMarks'], 3, { keys: 'candles' }).replies<
    [mark: Buffer, ...series: [offset: number, candles: Buffer][]]
  >(),
  read_changes: verb(['outbox', 'orders', 'cash', 'expiries', 'sums'], 2).replies<
    [
      position: Buffer,
      read: number,
      added: number,
      more: Flag,
      sums: Buffer[],
      orders: Buffer[],
      cash: Buffer[],
      markets: [id: Buffer, fields: Buffer[], holders: (Buffer | number)[]][],
    ]
  >(),
  read_fills: verb(['orders'], 6).replies<[record: Buffer, rest: Buffer, ...matches: Fills[]]>(),
  read_market: verb(['market', 'trades', 'markets'], 2).replies<
    [nowMs: Buffer, document: Buffer, state: Buffer[], matches: StreamEntry[]]
  >(),
  read_run: verb(['epoch'], 0).replies<Buffer>(),
  note_layout: verb(['layout'], 2).replies<[layout: number, oldest: number]>(),
  renew_epoch: verb(['epoch', 'markets', 'outbox'], 4).replies<
    [name: Buffer, first: Flag, sinceMs: number, lostMs: number, last: Buffer]
  >(),
};

type CoreVerbs = typeof VERBS;
/** The scripts by their names. An extension adds those of its folder in its verbs.ts. */
export interface Verbs extends CoreVerbs {}

export type VerbName = keyof Verbs;
type TableOf<Name extends VerbName> = Verbs[Name];

type KeyAt<S> = S extends KeyName ? Key<S> : S extends readonly KeyName[] ? Key<S[number]> : never;
type Named<Slots extends readonly Slot[]> = { readonly [I in keyof Slots]: KeyAt<Slots[I]> };
type Counted<N extends number, List extends ScriptArgument[] = []> = List['length'] extends N
  ? List
  : Counted<N, [...List, ScriptArgument]>;

export type KeysOf<Name extends VerbName> =
  TableOf<Name> extends Verb<infer Keys, number, infer More>
    ? More extends { readonly keys: infer Last extends KeyName }
      ? readonly [...Named<Keys>, ...Key<Last>[]]
      : Named<Keys>
    : never;
export type ArgsOf<Name extends VerbName> =
  TableOf<Name> extends Verb<readonly Slot[], infer Args, infer More>
    ? More extends { readonly args: true }
      ? readonly [...Counted<Args>, ...ScriptArgument[]]
      : Readonly<Counted<Args>>
    : never;
export type ReplyOf<Name extends VerbName> =
  TableOf<Name> extends Replying<infer Reply> ? Exclude<Reply, undefined> : never;
