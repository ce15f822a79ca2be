import type { TradeFacts } from '../../../exchange/facts';
import type { MarketTerms } from '../../../exchange/market';
import type { Context } from '../../../http/context';
import { type AnyEndpoint, type Call, ok, read, walletOf } from '../../../http/endpoint';
import { isDeposit } from '../../../store/records/moves';
import { tradeId } from '../../../store/records/order-views';
import { presentTradeOf } from '../../../wire/answers/trade';
import { PAGE_SIZES } from '../../../wire/pages';
import { choiceOf, cursorOf, limitOf, periodOf, type Query } from '../../../wire/queries';
import { JOURNAL_CURSOR_MAX } from '../store/cursor';
import type { JournalReads, JournalRow, TradeRow } from '../store/reads';
import { changeOf } from '../store/sides';
import { presentMove, presentPosition, presentTradeActivity } from '../wire/answers';
import { PORTFOLIO_PATHS } from '../wire/paths';
import { type Consents, shownWallet } from './shown-wallet';

const POSITION_STATES = ['open', 'closed'] as const;

/** A wallet's own books: its holdings and gains, its trades, and all moves of its balances. */
export function journalEndpoints(
  journal: JournalReads,
  consents: Consents,
  { reads, marketIdOf, termsOf }: Context,
): AnyEndpoint[] {
  const pageOf = (query: Query) => ({
    limit: limitOf(query, PAGE_SIZES.journal),
    cursor: cursorOf(query, JOURNAL_CURSOR_MAX),
  });

  const rowsOf = (query: Query) => ({ ...pageOf(query), ...periodOf(query) });

  async function positions(call: Call<undefined>, wallet = walletOf(call)) {
    const page = pageOf(call.query);
    const status = choiceOf(call.query, 'status', POSITION_STATES);
    const marketId = await marketIdOf(call.query);
    const { positions: rows, next, looked } = await journal.positions(wallet, { marketId, status }, page);
    const views = new Map(await Promise.all([...new Set(rows.map((row) => row.marketId))].map(viewOf)));
    const data = rows.flatMap((row) => {
      const view = views.get(row.marketId);
      return view ? [presentPosition(row, view.terms, view.state)] : [];
    });
    return { ...ok({ data, nextCursor: next }), looked };
  }

  const viewOf = async (id: string) => [id, await reads.view(id)] as const;

  async function trades(call: Call<undefined>) {
    const page = rowsOf(call.query);
    const filter = { marketId: await marketIdOf(call.query), tradesOnly: true };
    const { rows, next, looked } = await journal.rows(walletOf(call), filter, page);
    const data = await Promise.all(rows.flatMap((row) => (row.type === 'TRADE' ? [tradeBody(row)] : [])));
    return { ...ok({ data, nextCursor: next }), looked };
  }

  async function tradeBody(row: TradeRow) {
    const terms = await termsOf(row.side.order.marketId);
    return presentTradeOf(row.side, fillOf(row, terms), terms);
  }

  async function activity(call: Call<undefined>) {
    const page = rowsOf(call.query);
    const filter = { marketId: await marketIdOf(call.query) };
    const { rows, next, looked } = await journal.rows(walletOf(call), filter, page);
    return { ...ok({ data: await Promise.all(rows.map(activityBody)), nextCursor: next }), looked };
  }

  async function activityBody(row: JournalRow) {
    if (row.type === 'TRADE') {
      const terms = await termsOf(row.side.order.marketId);
      return presentTradeActivity(row.id, row.side, fillOf(row, terms), changeOf(row.side), terms);
    }
    const terms = isDeposit(row.move) ? null : await termsOf(row.marketId);
    return presentMove(row.id, row.atMs, row.move, terms);
  }

  return [
    read(PORTFOLIO_PATHS.myPositions, (call) => positions(call), 'required'),
    read(PORTFOLIO_PATHS.positions, async (call) => positions(call, await shownWallet(call, consents))),
    read(PORTFOLIO_PATHS.myTrades, trades, 'required'),
    read(PORTFOLIO_PATHS.myActivity, activity, 'required'),
  ];
}

const fillOf = ({ side: { fill }, settlement }: TradeRow, { id }: MarketTerms): TradeFacts => ({
  ...fill,
  ...settlement,
  id: tradeId(id, fill),
});
