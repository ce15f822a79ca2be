import { type Balances, totalOf } from '../../../exchange/facts';
import type { Context } from '../../../http/context';
import { type AnyEndpoint, type Call, okJson, type Reply, read, walletOf } from '../../../http/endpoint';
import { type HistoryWindow, historyWindow } from '../../../wire/answers/history';
import { timeframeOf } from '../../../wire/queries';
import { createBooks, isHeld, tokensOf, worthOfAll } from '../books';
import type { JournalReads } from '../store/reads';
import { gainSince, valuesAt } from '../value';
import { presentPortfolio } from '../wire/answers';
import { PORTFOLIO_PATHS } from '../wire/paths';
import { type Consents, shownWallet } from './shown-wallet';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Lines of the journal that one answer reads back; the history begins after them. */
const ROWS_MAX = 5_000;
/** The most points of a history; a longer history is cut to the latest. */
const POINTS_MAX = 1_000;

/** The value of a wallet, now and over time. */
export function portfolioEndpoints(
  journal: JournalReads,
  consents: Consents,
  { reads }: Context,
): AnyEndpoint[] {
  const books = createBooks(journal, reads);

  /**
   * Cached while neither the balances of the wallet nor a market of its tokens changes, for a minute at most: the history costs
   * as much as thousands of rows.
   */
  async function portfolio(call: Call<undefined>, wallet = walletOf(call)): Promise<Reply> {
    const timeframe = timeframeOf(call.query);
    const nowMs = Math.trunc(reads.clock());
    const balances = await reads.balances(wallet);
    const held = [...new Set(balances.tokens.map(({ marketId }) => marketId))];
    const markets = await Promise.all(held.map((id) => reads.kept.market(id)));
    const stamp = JSON.stringify([balances, markets, Math.floor(nowMs / MINUTE_MS)]);
    return okJson(
      await reads.kept.answer({ of: `portfolio ${wallet}`, stamp }, timeframe, async () => {
        const body = await portfolioAt(wallet, balances, historyWindow(timeframe, nowMs), nowMs);
        const text = Buffer.from(JSON.stringify(body));
        return { value: text, bytes: text.length };
      }),
    );
  }

  async function portfolioAt(wallet: string, balances: Balances, window: HistoryWindow, nowMs: number) {
    const midnightMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
    const positions = await books.positions(wallet);
    const sinceMs = Math.min(window.fromMs, midnightMs);
    const { changes, fromMs: knownMs } = await books.changes(wallet, sinceMs, ROWS_MAX);
    // The history `all` begins with the first line, and without one now.
    const fromMs = knownMs || nowMs;
    const moved = changes.filter(({ isDeposit }) => !isDeposit);
    const views = await books.views([...balances.tokens, ...positions.filter(isHeld), ...moved]);
    const tokens = tokensOf(positions);
    const collateralMicro = BigInt(totalOf(balances));
    const recordedMicro = worthOfAll(tokens, views);
    const positionsMicro = worthOfAll(
      tokensOf(balances.tokens.map((held) => ({ ...held, sizeMicro: BigInt(totalOf(held)) }))),
      views,
    );
    // With funds on a chain a wallet also splits, merges and redeems by itself, which is in no journal and changes no value.
    const unrecordedMicro = positionsMicro - recordedMicro;
    const moments = momentsOf(window, fromMs, nowMs);
    const firstMs = Math.min(moments[0] ?? nowMs, midnightMs);
    const worthAt = await books.prices(views.keys(), firstMs, window.bucketMs);
    const now = { collateralMicro, tokens };
    const values = valuesAt(now, changes, moments.slice(0, -1), worthAt);
    const valueMicro = collateralMicro + positionsMicro;
    const gained = positions.reduce(
      (sum, { realizedMicro, costMicro }) => sum + realizedMicro - costMicro,
      0n,
    );
    return presentPortfolio({
      valueMicro,
      cashMicro: balances.freeMicro,
      reservedMicro: balances.reservedMicro,
      positionsMicro,
      pnlMicro: gained + recordedMicro,
      todayMicro: gainSince(recordedMicro, now, changes, Math.max(midnightMs, fromMs), worthAt),
      history: [...values.map((value) => value + unrecordedMicro), valueMicro].map((value, i) => ({
        atMs: moments[i] ?? nowMs,
        valueMicro: value,
      })),
    });
  }

  return [
    read(PORTFOLIO_PATHS.myPortfolio, (call) => portfolio(call), 'required'),
    read(PORTFOLIO_PATHS.portfolio, async (call) => portfolio(call, await shownWallet(call, consents))),
  ];
}

/** The ends of the window's buckets, the last of them now. */
function momentsOf({ fromMs, lastMs, bucketMs }: HistoryWindow, knownMs: number, nowMs: number): number[] {
  const firstMs = Math.max(fromMs, Math.floor(knownMs / bucketMs) * bucketMs, lastMs - POINTS_MAX * bucketMs);
  const moments: number[] = [];
  for (let startMs = firstMs; startMs < lastMs; startMs += bucketMs) moments.push(startMs + bucketMs - 1);
  return [...moments, nowMs];
}
