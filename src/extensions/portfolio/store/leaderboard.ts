import { isDeepStrictEqual } from 'node:util';
import type { Candle, MarketView } from '../../../exchange/facts';
import type { MarketId } from '../../../exchange/market';
import type { Reads } from '../../../store/reads/reads';
import { addressBytes, hashHex } from '../../../store/records/order';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import { type Books, createBooks, isHeld, tokensOf, worthOfAll } from '../books';
import { gainSince } from '../value';
import { weekOf } from '../week';
import { LEADERS_PAGE } from '../wire/paths';
import type { MarketWallets } from './market-wallets';
import type { JournalReads } from './reads';

/**
 * {x}:lb  hash: `at` when the ranking that is shown was begun (ms), `shown` that ranking, `next` the one that is being made, as
 *         JSON, in the first shard; written by the chore rank-wallets
 */

/** A wallet's gain and volume since the start of a week; micro-units of collateral. */
export interface Ranked {
  /** Lower-case hex. */
  readonly address: string;
  readonly pnlMicro: bigint;
  readonly volumeMicro: bigint;
}

export interface Leader extends Ranked {
  readonly username: string | null;
}

export interface Leaderboard {
  /** The moment that is contained for every wallet; null while the week has no ranking yet. */
  readonly asOfMs: number | null;
  /** Largest gain first. */
  readonly leaders: readonly Leader[];
}

/** A ranking, complete or as far as it is; amounts as text. */
interface Stored {
  readonly fromMs: number;
  readonly asOfMs: number;
  readonly rows: readonly (readonly [address: string, pnlMicro: string, volumeMicro: string])[];
}

/** A ranking that is being made, and the wallet up to which it is. */
interface Round extends Stored {
  readonly behind: string;
}

/** Wallets of one step, and the lines of journals after which it takes no further wallet; the next step continues. */
export const WALLETS_MAX = 200;
const LINES_MAX = 10_000;
/** A wallet with more lines in a week is not ranked. */
export const WEEK_LINES_MAX = 20_000;
/** Attempts to read a wallet's positions and lines without a trade of the wallet in between. */
const ATTEMPTS_MAX = 3;
const DAY_MS = 86_400_000;

interface LeaderboardOptions {
  readonly redis: RedisClient;
  /** The keys of the first partition. */
  readonly keys: Keys;
}

export interface LeaderboardReads {
  /** Names the ranking that is shown: every new one has another name. */
  moment(): Promise<string>;
  /** Returns the wallets of the week that starts then, of those that agree and do not hide themselves now. */
  leaders(fromMs: number, limit: number): Promise<Leaderboard>;
}

/** Reads what `createRanking` writes. */
export function createLeaderboard(
  { redis, keys }: LeaderboardOptions,
  { publicOf }: Pick<MarketWallets, 'publicOf'>,
): LeaderboardReads {
  return {
    moment: async () => (await redis.hget(keys.leaderboard, 'at')) ?? '',
    async leaders(fromMs, limit) {
      const shown = storedOf<Stored>(await redis.hget(keys.leaderboard, 'shown'), fromMs);
      if (!shown) return { asOfMs: null, leaders: [] };
      const rows = shown.rows.map(rankedOf);
      if (rows.length === 0) return { asOfMs: shown.asOfMs, leaders: [] };
      const [agreed, people] = await Promise.all([
        redis.zmscore(keys.contestants, ...rows.map(({ address }) => addressBytes(address))),
        publicOf(rows.map(({ address }) => address)),
      ]);
      const leaders = rows
        .filter((_, i) => agreed[i] !== null)
        .slice(0, limit)
        .map((row) => ({ ...row, username: people.get(row.address)?.username ?? null }));
      return { asOfMs: shown.asOfMs, leaders };
    },
  };
}

export interface Ranking {
  /** Does the next step, and returns whether the ranking is complete with it; throws UNAVAILABLE while a journal lacks entries. */
  step(): Promise<boolean>;
}

interface RankingOptions extends LeaderboardOptions {
  readonly journal: JournalReads;
  readonly reads: Pick<Reads, 'view' | 'candles'>;
  readonly now: () => number;
}

/**
 * Makes the ranking of the week in bounded steps, which any process may continue: the wallets that agreed are walked in the order of
 * their addresses, and the best of them are shown once the last is known. So many wallets make a ranking older, never shorter.
 */
export function createRanking({ redis, keys, journal, reads, now }: RankingOptions): Ranking {
  async function step(): Promise<boolean> {
    const nowMs = Math.trunc(now());
    const fromMs = weekOf(nowMs);
    const round =
      storedOf<Round>(await redis.hget(keys.leaderboard, 'next'), fromMs) ??
      ({ fromMs, asOfMs: nowMs, rows: [], behind: '' } satisfies Round);
    const after = round.behind === '' ? '-' : Buffer.concat([Buffer.from('('), addressBytes(round.behind)]);
    const found = await redis.zrangebylexBuffer(keys.contestants, after, '+', 'LIMIT', 0, WALLETS_MAX);
    const wallets = found.map(hashHex);
    const books = createBooks(journal, onceEach(reads));
    const ranked = round.rows.map(rankedOf);
    let [looked, done] = [0, 0];
    for (; done < wallets.length && looked < LINES_MAX; done++) {
      const week = await weekIn(books, wallets[done] ?? '', fromMs);
      looked += week.looked;
      if (week.ranked) ranked.push(week.ranked);
    }
    const rows = ranked.sort(byGain).slice(0, LEADERS_PAGE.most).map(textOf);
    const { asOfMs } = round;
    if (done < wallets.length || wallets.length === WALLETS_MAX) {
      const next: Round = { fromMs, asOfMs, rows, behind: wallets[done - 1] ?? round.behind };
      await redis.hset(keys.leaderboard, 'next', JSON.stringify(next));
      return false;
    }
    const shown: Stored = { fromMs, asOfMs, rows };
    await redis
      .multi()
      .hset(keys.leaderboard, 'at', asOfMs, 'shown', JSON.stringify(shown))
      .hdel(keys.leaderboard, 'next')
      .exec();
    return true;
  }

  return { step };
}

/**
 * The week of a wallet, null for one that neither traded nor gained, and for one with more than WEEK_LINES_MAX
 * lines; and the number of lines that were read.
 */
async function weekIn(
  books: Books,
  address: string,
  sinceMs: number,
): Promise<{ ranked: Ranked | null; looked: number }> {
  let [held, looked] = [await books.positions(address), 0];
  for (let attempt = 1; ; attempt++) {
    const {
      changes,
      isWhole,
      volumeMicro,
      looked: more,
    } = await books.changes(address, sinceMs, WEEK_LINES_MAX);
    looked += more;
    const again = await books.positions(address);
    if (attempt < ATTEMPTS_MAX && !isDeepStrictEqual(held, again)) {
      held = again;
      continue;
    }
    if (!isWhole) return { ranked: null, looked };
    const moved = changes.filter(({ isDeposit }) => !isDeposit);
    const views = await books.views([...held.filter(isHeld), ...moved]);
    const worthAt = await books.prices(views.keys(), sinceMs, DAY_MS);
    const tokens = tokensOf(held);
    // Cash does not count: what it was before follows from the changes.
    const now = { collateralMicro: 0n, tokens };
    const pnlMicro = gainSince(worthOfAll(tokens, views), now, changes, sinceMs, worthAt);
    const isIdle = pnlMicro === 0n && volumeMicro === 0n;
    return { ranked: isIdle ? null : { address, pnlMicro, volumeMicro }, looked };
  }
}

/** All wallets of a step are valued at the same prices, and each market is read once. */
function onceEach({ view, candles }: RankingOptions['reads']): RankingOptions['reads'] {
  const [views, series] = [
    new Map<MarketId, Promise<MarketView>>(),
    new Map<string, Promise<readonly Candle[]>>(),
  ];
  const once = <K, V>(kept: Map<K, V>, key: K, read: () => V): V => {
    const value = kept.get(key) ?? read();
    kept.set(key, value);
    return value;
  };
  return {
    view: (id) => once(views, id, () => view(id)),
    candles: (id, ...rest) => once(series, `${id} ${rest.join()}`, () => candles(id, ...rest)),
  };
}

/** Null for a ranking of another week. */
function storedOf<T extends Stored>(text: string | null, fromMs: number): T | null {
  const stored = text === null ? null : (JSON.parse(text) as T);
  return stored?.fromMs === fromMs ? stored : null;
}

const rankedOf = ([address, pnl, volume]: Stored['rows'][number]): Ranked => ({
  address,
  pnlMicro: BigInt(pnl),
  volumeMicro: BigInt(volume),
});
const textOf = ({ address, pnlMicro, volumeMicro }: Ranked): Stored['rows'][number] => [
  address,
  `${pnlMicro}`,
  `${volumeMicro}`,
];

const sign = (difference: bigint): number => (difference > 0n ? 1 : difference < 0n ? -1 : 0);
/** Between equal gains the larger volume comes first. */
const byGain = (a: Ranked, b: Ranked): number =>
  sign(b.pnlMicro - a.pnlMicro) || sign(b.volumeMicro - a.volumeMicro) || (a.address < b.address ? -1 : 1);
