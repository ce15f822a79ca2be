import type { MarketView } from '../../exchange/facts';
import { type MarketId, payoutHalves } from '../../exchange/market';
import type { Reads } from '../../store/reads/reads';
import { givesTokens } from '../../store/records/moves';
import { WORTH_PER_ONE, WORTH_PER_PIP, worthOf } from '../../wire/prices';
import type { HeldPosition, JournalReads, JournalRow } from './store/reads';
import { changeOf } from './store/sides';
import { type Tokens, type WalletChange, type WorthAt, worthOfTokens } from './value';

const ROWS_PER_PAGE = 1_000;
/** A wallet has at most two outcomes for each market. */
const POSITIONS_MAX = 100_000;

/** What a wallet did from a moment on. */
export interface Changes {
  /** Newest first. */
  readonly changes: readonly WalletChange[];
  /** Whether there were no more than were to be read. */
  readonly isWhole: boolean;
  /** The time from which they are complete: later than the moment when there were more. */
  readonly fromMs: number;
  /** The collateral that its trades moved, without those that failed on a chain. */
  readonly volumeMicro: bigint;
  /** The number of lines that were read. */
  readonly looked: number;
}

/** The holdings of wallets, what changed them, and the prices of the markets in question. */
export interface Books {
  positions(wallet: string): Promise<readonly HeldPosition[]>;
  /** Reads back the lines of the journal since then, a page more than `most` at most. */
  changes(wallet: string, sinceMs: number, most: number): Promise<Changes>;
  /** Returns the markets of positions, tokens and changes, which are any of these lists together. */
  views(of: readonly { readonly marketId: MarketId }[]): Promise<ReadonlyMap<MarketId, MarketView>>;
  /** Returns the prices of these markets at moments from `fromMs` on, exact at the ends of buckets. */
  prices(ids: Iterable<MarketId>, fromMs: number, bucketMs: number): Promise<WorthAt>;
}

export function createBooks(journal: JournalReads, reads: Pick<Reads, 'view' | 'candles'>): Books {
  async function changes(wallet: string, sinceMs: number, most: number): Promise<Changes> {
    const found: WalletChange[] = [];
    let [volumeMicro, looked] = [0n, 0];
    let cursor: string | null = null;
    do {
      const page = { limit: ROWS_PER_PAGE, cursor, sinceMs };
      const { rows, next, looked: more } = await journal.rows(wallet, {}, page);
      found.push(...rows.filter((row) => !isGrant(row)).map(walletChangeOf));
      volumeMicro += rows.reduce((sum, row) => sum + volumeOf(row), 0n);
      looked += more;
      cursor = next;
    } while (cursor !== null && found.length < most);
    const oldestMs = found.at(-1)?.atMs ?? sinceMs;
    // The first line is the beginning of `all`.
    const fromMs = cursor !== null || sinceMs === 0 ? oldestMs : sinceMs;
    const isWhole = cursor === null && found.length <= most;
    return { changes: found, isWhole, fromMs, volumeMicro, looked };
  }

  return {
    positions: async (wallet) =>
      (await journal.positions(wallet, {}, { limit: POSITIONS_MAX, cursor: null })).positions,
    changes,
    async views(of) {
      const ids = [...new Set(of.map(({ marketId }) => marketId))];
      return new Map(await Promise.all(ids.map(async (id) => [id, await reads.view(id)] as const)));
    },
    async prices(ids, fromMs, bucketMs) {
      const startMs = Math.floor(fromMs / bucketMs) * bucketMs;
      const series = new Map(
        await Promise.all(
          [...ids].map(async (id) => [id, await reads.candles(id, startMs, bucketMs)] as const),
        ),
      );
      return (id, atMs) => {
        const candle = series.get(id)?.findLast((one) => one.startMs <= atMs);
        return candle ? candle.close * WORTH_PER_PIP : null;
      };
    },
  };
}

/** The first grant counts as always there, as in the value of a wallet that has done nothing yet. */
const isGrant = (row: JournalRow): boolean => row.type === 'MOVE' && row.move.reason === 'GRANT';

type Holding = Pick<HeldPosition, 'marketId' | 'outcome' | 'sizeMicro'>;

export const isHeld = ({ sizeMicro }: Holding): boolean => sizeMicro > 0n;

export function tokensOf(positions: readonly Holding[]): ReadonlyMap<MarketId, Tokens> {
  const tokens = new Map<MarketId, Tokens>();
  for (const { marketId, outcome, sizeMicro } of positions.filter(isHeld)) {
    const held = tokens.get(marketId) ?? { yesMicro: 0n, noMicro: 0n };
    tokens.set(marketId, outcome === 0 ? { ...held, yesMicro: sizeMicro } : { ...held, noMicro: sizeMicro });
  }
  return tokens;
}

/** The present value of tokens. */
export const worthOfAll = (
  tokens: ReadonlyMap<MarketId, Tokens>,
  views: ReadonlyMap<MarketId, MarketView>,
): bigint =>
  [...tokens].reduce((sum, [id, amounts]) => sum + worthOfTokens(amounts, worthNow(views.get(id))), 0n);

/** The value of Yes, in tenths of a pip: the payout of a market that has ended, else its displayed price. */
function worthNow(view: MarketView | undefined): number | null {
  if (!view) return null;
  const { resolution } = view.state;
  return resolution ? (payoutHalves(resolution, 0) * WORTH_PER_ONE) / 2 : worthOf(view.state, 0);
}

function volumeOf(row: JournalRow): bigint {
  if (row.type !== 'TRADE' || row.settlement.settlementStatus === 'FAILED') return 0n;
  const { collateralMicro } = changeOf(row.side);
  return collateralMicro < 0n ? -collateralMicro : collateralMicro;
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
