import { type Flag, verb } from '../../store/redis/verbs';

/** The scripts of lua/. */
export const ARCHIVE_VERBS = {
  open_archive: verb(['archive', 'layout'], 2).replies<Buffer>(),
  forget_orders: verb(['orders', 'archive', 'archiveLease', 'cash', 'mode', 'forgotten'], 5, {
    args: true,
  }).replies<number>(),
  forget_matches: verb(
    [
      'market',
      'trades',
      'settlementListOf',
      'settlements',
      'settlementList',
      'archive',
      'archiveLease',
      'mode',
      'settledUpTo',
      'candleMarks',
    ],
    4,
    { args: true },
  ).replies<number>(),
  forget_lines: verb(['archive', 'archiveLease', 'mode', 'forgotten'], 4, { args: true }).replies<number>(),
  forget_market: verb(
    ['market', 'trades', 'settlementListOf', 'updates', 'candleMarks', 'archive', 'archiveLease', 'mode'],
    5,
    { keys: 'candles' },
  ).replies<number>(),
  forget_traces: verb(['market'], 1).replies<Flag>(),
};

type ArchiveVerbs = typeof ARCHIVE_VERBS;
declare module '../../store/redis/verbs' {
  interface Verbs extends ArchiveVerbs {}
}
