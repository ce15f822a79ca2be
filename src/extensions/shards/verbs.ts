import { type Coded, type Flag, verb } from '../../store/redis/verbs';

type SentOrHeld = Coded<[amountOrBitmap?: Buffer, idOrCash?: Buffer, entryOrNet?: Buffer, bits?: Buffer]>;

/** The scripts of lua/. */
export const SHARDS_VERBS = {
  send_collateral: verb(
    ['channel', 'cash', 'sums', 'outbox', 'mode', 'purses', 'purseHold'],
    7,
  ).replies<SentOrHeld>(),
  take_collateral: verb(['taken', 'cash', 'sums', 'outbox'], 2, { args: true }).replies<
    Coded<[mark: Buffer, taken: number]>
  >(),
  read_channel: verb(['channel', 'sums'], 3).replies<[last: Buffer, sent: Buffer, ...entries: Buffer[]]>(),
  resend_collateral: verb(['channel', 'cash', 'sums', 'outbox', 'mode'], 7).replies<
    Coded<[amount: Buffer]>
  >(),
  mend_channel: verb(['channel', 'channelDraft', 'sums', 'mode'], 3).replies<Buffer>(),
  hold_purse: verb(['purseHold', 'purses', 'cash'], 4).replies<SentOrHeld>(),
  release_purse: verb(['purseHold'], 1).replies<Flag>(),
  read_account: verb(['cash', 'holdings'], 2).replies<
    [cash: Buffer, net: Buffer, ...held: [market: Buffer, tokens: Buffer][]]
  >(),
  lift_nonce: verb(['cash', 'outbox', 'raisedNonces'], 3).replies<Coded<[nonce: Buffer]>>(),
  claim_market: verb(['allNames', 'marketShards', 'claims', 'allEvents'], 8).replies<
    [code: Buffer, detail?: Buffer]
  >(),
  list_market: verb(['claims', 'allMarkets'], 1).replies<Flag>(),
  open_home_log: verb(['accountLog', 'accountMarks'], 1, { args: true }).replies<
    [first?: Buffer, last?: Buffer]
  >(),
  log_shard_events: verb(['accountMarks'], 5, { keys: 'accountLog', args: true }).replies<
    [code: Buffer, ...rest: Buffer[]]
  >(),
  note_shards: verb(['shardCount', 'layout', 'markets'], 2).replies<number>(),
  begin_growth: verb(['shardCount', 'layout', 'mode'], 3).replies<[code: Buffer, detail: Buffer]>(),
  fill_directory: verb(
    [
      'shardCount',
      'marketNames',
      'events',
      'marketList',
      'allNames',
      'allEvents',
      'allMarkets',
      'marketShards',
    ],
    1,
  ).replies<number>(),
  open_home: verb(['cash', 'purses', 'raisedNonces'], 1, { args: true }).replies<number>(),
};

type ShardsVerbs = typeof SHARDS_VERBS;
declare module '../../store/redis/verbs' {
  interface Verbs extends ShardsVerbs {}
}
