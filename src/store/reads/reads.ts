import type { Funds } from '../../exchange/chain';
import { Refusal } from '../../exchange/errors';
import type { Balances, Market, MarketView, SettledLots, TokenBalance } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import { micro } from '../../exchange/units';
import type { History } from '../candles/history';
import { createDoubtful } from '../health/doubtful';
import type { DurabilityChecks } from '../health/durability';
import { type ModeFacts, readMode } from '../health/health';
import { type ArchivedReads, NO_ARCHIVED_READS } from '../lists/archived-reads';
import { createMarketMatches, type PackedMatch } from '../lists/matches';
import { below, FIRST_MATCH, LAST_MATCH, matchPlace } from '../lists/places';
import { decodeCash, decodeTokens } from '../records/account';
import { decodeMarket, decodeState } from '../records/market';
import { addressBytes, type Fill } from '../records/order';
import type { RowsPage, SettledFill, TradesPage } from '../records/order-views';
import type { Clock } from '../redis/clock';
import { coalesce } from '../redis/coalesce';
import type { Keys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';
import { createSettlements } from '../settlement/settlements';
import type { AnswerCache } from './answer-cache';
import { createOrderReads, type OrderReads } from './orders';
import { createTradeReads, fillsOf } from './trades';
import { createWalletReads, type WalletReads } from './wallet-orders';

export interface ReadsOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  readonly history: History;
  readonly clock: Clock;
  readonly kept: AnswerCache;
  readonly doubts: DurabilityChecks['doubts'];
  /** The balances of an unknown wallet. */
  readonly grantMicro: number;
  /** Without it nothing has left Redis. */
  readonly archivedReads?: ArchivedReads;
  /** On a chain every fill has a settlement record of its own. */
  readonly funds?: Funds;
  /** As in `createSettlements`. */
  readonly checksum?: (address: string) => string;
}

export interface Reads extends OrderReads, WalletReads {
  /** Finds a market by id, slug or condition id. Its texts may be of an earlier moment; its terms never change. */
  market(name: string): Promise<Market | null>;
  view(id: MarketId): Promise<MarketView>;
  /** Throws MARKET_NOT_FOUND. `trades` latest fills, newest first, belong to the same moment. */
  snapshot(id: MarketId, trades: number): Promise<{ view: MarketView; fills: readonly SettledFill[] }>;
  trades(id: MarketId, page: RowsPage): Promise<TradesPage>;
  balances(address: string): Promise<Balances>;
  /** The maker's current nonce. */
  nonce(address: string): Promise<number>;
  /** Null with paper funds, which settle at once. */
  settledLots(orderHash: string): Promise<SettledLots | null>;
  readonly candles: History['candles'];
  clock(): number;
  /** The current mode of the exchange, and the operator's message about it. */
  mode(): Promise<ModeFacts>;
  readonly kept: AnswerCache;
}

/** Terms cached for the life of the process, because they never change. */
const TERMS_MAX = 10_000;

/** Everything that the exchange shows, read from Redis at the moment of the request. Nothing here changes state. */
export function createReads({
  redis,
  run,
  keys,
  history,
  clock,
  kept,
  doubts,
  grantMicro,
  archivedReads = NO_ARCHIVED_READS,
  funds = 'paper',
  checksum = (address) => address,
}: ReadsOptions): Reads {
  const { show, showAll } = createSettlements({ redis, run, keys, archivedReads, funds, checksum });
  const matchesOf = createMarketMatches({ redis, keys, archivedReads });

  const market = cachedMarkets(doubts, async (key) => {
    const id = await redis.hget(keys.marketNames, key);
    const document = id && (await redis.hgetBuffer(keys.markets, id));
    return document ? decodeMarket(document) : null;
  });

  async function snapshot(
    id: MarketId,
    trades: number,
  ): Promise<{ view: MarketView; fills: readonly SettledFill[] }> {
    const askedAt = performance.now();
    const scriptKeys = [keys.market(id), keys.trades(id), keys.markets] as const;
    const [now, document, state, matches] = await run('read_market', scriptKeys, [id, trades]);
    if (document.length === 0) throw new Refusal('MARKET_NOT_FOUND');
    const nowMs = Number(now);
    clock.observe(nowMs, askedAt);
    const decoded = decodeState(state);
    const day = await history.day(id, decoded, nowMs);
    const view = { ...decodeMarket(document), state: decoded, day, nowMs };
    return { view, fills: await show(id, await latest(id, matches.map(packedMatch), trades)) };
  }

  /** The latest fills, newest first, from the latest matches that Redis has. */
  async function latest(id: MarketId, here: readonly PackedMatch[], most: number): Promise<Fill[]> {
    const fills = here.flatMap((match) => fillsOf(match).reverse());
    if (fills.length >= most) return fills.slice(0, most);
    const oldest = here.at(-1);
    const to = oldest ? below(oldest) : LAST_MATCH;
    const stretch = { from: FIRST_MATCH, to, descending: true, most: most - fills.length };
    const left = await archivedReads.matchesOf(id, stretch);
    return [...fills, ...left.flatMap((match) => fillsOf(match).reverse())].slice(0, most);
  }

  async function view(id: MarketId): Promise<MarketView> {
    return (await snapshot(id, 0)).view;
  }

  async function balances(address: string): Promise<Balances> {
    const raw = addressBytes(address);
    const scriptKeys = [keys.cash, keys.holdings(raw)] as const;
    const [cash, ...held] = await run('read_balances', scriptKeys, [keys.prefix, raw]);
    return {
      freeMicro: micro(cash.length ? decodeCash(cash).freeMicro : grantMicro),
      reservedMicro: micro(cash.length ? decodeCash(cash).reservedMicro : 0),
      tokens: await tokenBalances(held, market),
    };
  }

  async function nonce(address: string): Promise<number> {
    const cash = await redis.hgetBuffer(keys.cash, addressBytes(address));
    return cash ? decodeCash(cash).nonce : 0;
  }

  const orders = createOrderReads({ redis, run, keys, archivedReads, showAll });
  const wallets = createWalletReads({ redis, keys, archivedReads, ...orders });
  return {
    market,
    view,
    snapshot,
    settledLots: async () => null,
    trades: createTradeReads({ matches: matchesOf, show }),
    ...orders,
    balances,
    nonce,
    ...wallets,
    candles: history.candles,
    clock: () => clock.now(),
    mode: coalesce(() => readMode(redis, keys)),
    kept,
  };
}

/** Caches the markets that `find` finds by id, slug or condition id, which may have its digits in either case. */
export function cachedMarkets(
  doubts: DurabilityChecks['doubts'],
  find: (key: string) => Promise<Market | null>,
): Reads['market'] {
  const known = createDoubtful<string, Market>(doubts, TERMS_MAX);
  return async (name) => {
    const key = /^0x/i.test(name) ? name.toLowerCase() : name;
    const cached = known.get(key);
    if (cached) return cached;
    const at = doubts();
    const found = await find(key);
    if (found) known.keep(key, found, at);
    return found;
  };
}

const packedMatch = ([id, [, packed]]: [Buffer, [Buffer, Buffer]]): PackedMatch => ({
  ...matchPlace(id),
  packed,
});

/** The tokens that a wallet holds, from its accounts in these markets. */
export async function tokenBalances(
  held: readonly (readonly [id: Buffer, packed: Buffer])[],
  market: Reads['market'],
): Promise<TokenBalance[]> {
  const tokens: TokenBalance[] = [];
  for (const [id, packed] of held) {
    const owner = await market(id.toString());
    if (!owner) throw new Error(`tokens of an unknown market ${id.toString()}`);
    const { id: marketId, tokenIds } = owner.terms;
    for (const outcome of [0, 1] as const) {
      const { freeMicro, reservedMicro } = decodeTokens(packed)[outcome];
      const amounts = { freeMicro: micro(freeMicro), reservedMicro: micro(reservedMicro) };
      if (freeMicro + reservedMicro > 0)
        tokens.push({ marketId, outcome, tokenId: tokenIds[outcome], ...amounts });
    }
  }
  return tokens;
}
