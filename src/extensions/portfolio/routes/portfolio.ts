import { type Balances, type MarketView, totalOf } from '../../../exchange/facts';
import { type MarketId, payoutHalves } from '../../../exchange/market';
import type { Context } from '../../../http/context';
import { type AnyEndpoint, type Call, okJson, type Reply, read, walletOf } from '../../../http/endpoint';
import { givesTokens } from '../../../store/records/moves';
import { type HistoryWindow, historyWindow } from '../../../wire/answers/history';
import { WORTH_PER_ONE, WORTH_PER_PIP, worthOf } from '../../../wire/prices';
import { timeframeOf } from '../../../wire/queries';
import type { HeldPosition, JournalReads, JournalRow } from '../store/reads';
import { changeOf } from '../store/sides';
import { type Tokens, valuesAt, type WalletChange, type WorthAt, worthOfTokens } from '../value';
import { presentPortfolio } from '../wire/answers';
import { PORTFOLIO_PATHS } from '../wire/paths';
import { type Consents, shownWallet } from './shown-wallet';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Lines of the journal that one answer reads back; the history begins after them. */
const ROWS_MAX = 5_000;
const ROWS_PER_PAGE = 1_000;
/** The most points of a history; a longer history is cut to the latest. */
const POINTS_MAX = 1_000;
/** A wallet has at most two outcomes for each market. */
const POSITIONS_MAX = 100_000;

/** The value of a wallet, now and over time. */
export function portfolioEndpoints(
  journal: JournalReads,
  consents: Consents,
  { reads }: Context,
): AnyEndpoint[] {
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
    const { positions } = await journal.positions(wallet, {}, { limit: POSITIONS_MAX, cursor: null });
    const { changes, fromMs } = await changesOf(wallet, Math.min(window.fromMs, midnightMs));
    const ids = [
      ...new Set(
        [...balances.tokens, ...positions.filter(isHeld), ...changes.filter((one) => !one.isDeposit)].map(
          ({ marketId }) => marketId,
        ),
      ),
    ];
    const views = new Map(await Promise.all(ids.map(async (id) => [id, await reads.view(id)] as const)));
    const tokens = tokensOf(positions);
    const collateralMicro = BigInt(totalOf(balances));
    const worthOfAll = (held: ReadonlyMap<MarketId, Tokens>): bigint =>
      [...held].reduce((sum, [id, amounts]) => sum + worthOfTokens(amounts, worthNow(views.get(id))), 0n);
    const recordedMicro = worthOfAll(tokens);
    const positionsMicro = worthOfAll(
      tokensOf(balances.tokens.map((held) => ({ ...held, sizeMicro: BigInt(totalOf(held)) }))),
    );
    // With funds on a chain a wallet also splits, merges and redeems by itself, which is in no journal and changes no value.
    const unrecordedMicro = positionsMicro - recordedMicro;
    const moments = momentsOf(window, fromMs, nowMs);
    const worthAt = await pricesOf([...views.values()], Math.min(moments[0] ?? nowMs, midnightMs), window);
    const now = { collateralMicro, tokens };
    const [opening = 0n] = valuesAt(now, changes, [Math.max(midnightMs, fromMs) - 1], worthAt);
    const values = valuesAt(now, changes, moments.slice(0, -1), worthAt);
    const valueMicro = collateralMicro + positionsMicro;
    const deposits = changes.filter(({ isDeposit, atMs }) => isDeposit && atMs >= midnightMs);
    const paidIn = deposits.reduce((sum, change) => sum + change.collateralMicro, 0n);
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
      todayMicro: valueMicro - (opening + unrecordedMicro) - paidIn,
      history: [...values.map((value) => value + unrecordedMicro), valueMicro].map((value, i) => ({
        atMs: moments[i] ?? nowMs,
        valueMicro: value,
      })),
    });
  }

  /** Returns moves newest first, and the time from which they are complete. */
  async function changesOf(wallet: string, sinceMs: number) {
    const changes: WalletChange[] = [];
    let cursor: string | null = null;
    do {
      const page = { limit: ROWS_PER_PAGE, cursor, sinceMs };
      const { rows, next } = await journal.rows(wallet, {}, page);
      changes.push(...rows.filter((row) => !isGrant(row)).map(walletChangeOf));
      cursor = next;
    } while (cursor !== null && changes.length < ROWS_MAX);
    const oldestMs = changes.at(-1)?.atMs ?? sinceMs;
    // The first line is the beginning of `all`.
    return { changes, fromMs: cursor !== null || sinceMs === 0 ? oldestMs : sinceMs };
  }

  async function pricesOf(
    views: readonly MarketView[],
    fromMs: number,
    { bucketMs }: HistoryWindow,
  ): Promise<WorthAt> {
    const startMs = Math.floor(fromMs / bucketMs) * bucketMs;
    const series = new Map(
      await Promise.all(
        views.map(async ({ terms }) => [terms.id, await reads.candles(terms.id, startMs, bucketMs)] as const),
      ),
    );
    return (id, atMs) => {
      const candle = series.get(id)?.findLast((one) => one.startMs <= atMs);
      return candle ? candle.close * WORTH_PER_PIP : null;
    };
  }

  return [
    read(PORTFOLIO_PATHS.myPortfolio, (call) => portfolio(call), 'required'),
    read(PORTFOLIO_PATHS.portfolio, async (call) => portfolio(call, await shownWallet(call, consents))),
  ];
}

/** The first grant counts as always there, as in the value of a wallet that has done nothing yet. */
const isGrant = (row: JournalRow): boolean => row.type === 'MOVE' && row.move.reason === 'GRANT';

type Holding = Pick<HeldPosition, 'marketId' | 'outcome' | 'sizeMicro'>;

const isHeld = ({ sizeMicro }: Holding): boolean => sizeMicro > 0n;

function tokensOf(positions: readonly Holding[]): ReadonlyMap<MarketId, Tokens> {
  const tokens = new Map<MarketId, Tokens>();
  for (const { marketId, outcome, sizeMicro } of positions.filter(isHeld)) {
    const held = tokens.get(marketId) ?? { yesMicro: 0n, noMicro: 0n };
    tokens.set(marketId, outcome === 0 ? { ...held, yesMicro: sizeMicro } : { ...held, noMicro: sizeMicro });
  }
  return tokens;
}

/** The value of Yes, in tenths of a pip: the payout of a market that has ended, else its displayed price. */
function worthNow(view: MarketView | undefined): number | null {
  if (!view) return null;
  const { resolution } = view.state;
  return resolution ? (payoutHalves(resolution, 0) * WORTH_PER_ONE) / 2 : worthOf(view.state, 0);
}

/** The ends of the window's buckets, the last of them now. */
function momentsOf({ fromMs, lastMs, bucketMs }: HistoryWindow, knownMs: number, nowMs: number): number[] {
  const firstMs = Math.max(fromMs, Math.floor(knownMs / bucketMs) * bucketMs, lastMs - POINTS_MAX * bucketMs);
  const moments: number[] = [];
  for (let startMs = firstMs; startMs < lastMs; startMs += bucketMs) moments.push(startMs + bucketMs - 1);
  return [...moments, nowMs];
}

function walletChangeOf(row: JournalRow): WalletChange {
  if (row.type === 'TRADE') {
    const { order, fill } = row.side;
    const { tokensMicro, collateralMicro } = changeOf(row.side);
    const [yesMicro, noMicro] = order.outcome === 0 ? [tokensMicro, 0n] : [0n, tokensMicro];
    return {
      atMs: fill.tradeMs,
      marketId: order.marketId,
      collateralMicro,
      yesMicro,
      noMicro,
      isDeposit: false,
    };
  }
  const { atMs, marketId, move } = row;
  const [collateral, yes, no] = [BigInt(move.collateralMicro), BigInt(move.yesMicro), BigInt(move.noMicro)];
  const isGiven = givesTokens(move);
  return {
    atMs,
    marketId,
    collateralMicro: isGiven ? -collateral : collateral,
    yesMicro: isGiven ? yes : -yes,
    noMicro: isGiven ? no : -no,
    isDeposit: move.reason === 'FAUCET',
  };
}
