import type { Extension } from '../../app/extensions';
import { addPortfolio } from './cli/commands';
import { examineJournal } from './examine';
import { KEEP_JOURNAL } from './jobs/keeping';
import { RANK_WALLETS, rankWallets } from './jobs/ranking';
import { journalEndpoints } from './routes/journal';
import { leaderboardEndpoints } from './routes/leaderboard';
import { marketWalletEndpoints } from './routes/market-wallets';
import { portfolioEndpoints } from './routes/portfolio';
import { checkPositions } from './store/check-positions';
import { JOURNAL } from './store/journal';
import { openLeaderboard, openMarketWallets, openRanking, openReads } from './store/open';
import { PORTFOLIO_COSTS } from './wire/costs';
import { PORTFOLIO_OPERATIONS } from './wire/operations';
import { PORTFOLIO_SCHEMAS } from './wire/schemas';

/** The journal of each wallet: its positions with their gains, its trades, its activity, and its value over time; the holders and traders of each market, and the leaderboard of the week. */
export const PORTFOLIO: Extension = {
  name: 'portfolio',
  api: { operations: PORTFOLIO_OPERATIONS, schemas: PORTFOLIO_SCHEMAS, costs: PORTFOLIO_COSTS },
  commands: addPortfolio,
  readers: [JOURNAL],
  auditChecks: [checkPositions],
  examine: examineJournal,
  chores: [KEEP_JOURNAL],
  queues: () => [RANK_WALLETS],
  worker: (store) => ({ chores: [rankWallets(openRanking(store))] }),
  web({ store }) {
    const journal = openReads(store);
    const wallets = openMarketWallets(store);
    const leaderboard = openLeaderboard(store, wallets);
    return {
      routes: (context, cached) => [
        ...journalEndpoints(journal, wallets, context),
        ...portfolioEndpoints(journal, wallets, context),
        ...marketWalletEndpoints(wallets, context, cached),
        ...leaderboardEndpoints(leaderboard, context, cached),
      ],
    };
  },
};
