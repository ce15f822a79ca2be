import { type Flag, verb } from '../../store/redis/verbs';

/** The scripts of lua/. */
export const PORTFOLIO_VERBS = {
  write_journal: verb(['readers', 'sums'], 7, { args: true }).replies<Flag>(),
  rebuild_journal: verb(['sums', 'journal', 'positions', 'journalDraft', 'forgotten'], 7, {
    args: true,
  }).replies<Flag>(),
  read_journal: verb(['journal', 'forgotten'], 3).replies<
    [left: number, length: number, ...lines: Buffer[]]
  >(),
  read_positions: verb(['readers', 'outbox'], 2, { args: true }).replies<
    [mark: Buffer, last: Buffer, ...lists: Buffer[][]]
  >(),
};

type PortfolioVerbs = typeof PORTFOLIO_VERBS;
declare module '../../store/redis/verbs' {
  interface Verbs extends PortfolioVerbs {}
}
