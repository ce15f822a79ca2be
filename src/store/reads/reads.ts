import { Refusal } from '../../exchange/errors';
import type { MarketId, OutcomeIndex } from '../../exchange/market';
import { micro } from '../../exchange/units';
import type { History } from '../candles/history';
import { createDoubtful } from '../health/doubtful';
import { readMode } from '../health/health';
import type { Standings } from '../health/standing';
import { decodeCash, decodeTokens } from '../records/account';
import { decodeMarket, decodeState } from '../records/market';
import { addressBytes, decodeFills, type Fill } from '../records/order';
import type { Balances, Market, MarketView, SettledFill, TokenBalance, TradesPage } from '../records/views';
import type { Clock } from '../redis/clock';
import { coalesce } from '../redis/coalesce';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';
import { createSettlements } from '../settlement/settlements';
import type { Kept } from './kept';
import { createOrderReads } from './orders';
import { createWalletReads } from './wallet-orders';

export interface ReadsOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: ShardKeys;
  readonly history: History;
  readonly clock: Clock;
  readonly kept: Kept;
  readonly doubts: Standings['doubts'];
  /** The balances of an unknown wallet. */
  readonly grantMicro: number;
}

export type Reads = ReturnType<typeof createReads>;

type StreamEntry = [Buffer, [Buffer, Buffer]];
/** Matches read at a time while a page of trades is filled. */
const MATCHES_STEP = 100;
/** Terms kept per process: they never change. */
const TERMS_MAX = 10_000;
const TRADE_CURSOR = /^(\d{1,15})-(\d{1,15})-(\d{1,4})$/;

/** Everything the exchange shows, read from Redis at the moment it is asked for. Nothing here changes state. */
export function createReads({ redis, run, keys, history, clock, kept, doubts, grantMicro }: ReadsOptions) {
  const known = createDoubtful<string, Market>(doubts, TERMS_MAX);
  const { show } = createSettlements({ redis, run, keys });

  /** A market by id, slug or condition id; its texts may be those of an earlier moment, its terms never change. */
  async function market(name: string): Promise<Market | null> {
    const key = name.startsWith('0x') || name.startsWith('0X') ? name.toLowerCase() : name;
    const cached = known.get(key);
    if (cached) return cached;
    const at = doubts();
    const id = await redis.hget(keys.marketNames, key);
    const document = id && (await redis.hgetBuffer(keys.markets, id));
    if (!document) return null;
    const found = decodeMarket(document);
    known.keep(key, found, at);
    return found;
  }

  /** Throws MARKET_NOT_FOUND. `trades` latest fills, newest first, belong to the same moment. */
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
    return { view, fills: await show(id, matches.flatMap(newestFirst).slice(0, trades)) };
  }

  async function view(id: MarketId): Promise<MarketView> {
    return (await snapshot(id, 0)).view;
  }

  /** Newest first; throws INVALID_CURSOR. */
  async function trades(id: MarketId, page: { limit: number; cursor: string | null }): Promise<TradesPage> {
    const position = page.cursor === null ? null : TRADE_CURSOR.exec(page.cursor);
    if (page.cursor !== null && !position) throw new Refusal('INVALID_CURSOR');
    const after = position && { id: `${position[1]}-${position[2]}`, index: Number(position[3]) };
    let from = after ? after.id : '+';
    const fills: Fill[] = [];
    while (fills.length <= page.limit) {
      const entries = await redis.xrevrangeBuffer(keys.trades(id), from, '-', 'COUNT', MATCHES_STEP);
      for (const entry of entries as unknown as StreamEntry[]) {
        const found = newestFirst(entry);
        from = `(${entry[0].toString()}`;
        const isCursor = after !== null && entry[0].toString() === after.id;
        fills.push(...(isCursor ? found.filter((fill) => fill.index < after.index) : found));
      }
      if (entries.length < MATCHES_STEP) break;
    }
    const shown = fills.slice(0, page.limit);
    const last = shown.at(-1);
    const more = fills.length > page.limit && last;
    return {
      fills: await show(id, shown),
      next: more ? `${last.tradeMs}-${last.sequence}-${last.index}` : null,
    };
  }

  async function balances(address: string): Promise<Balances> {
    const raw = addressBytes(address);
    const scriptKeys = [keys.cash, keys.holdings(raw)] as const;
    const [cash, ...held] = await run('read_balances', scriptKeys, [keys.prefix, raw]);
    const tokens: TokenBalance[] = [];
    for (const [id, packed] of held) {
      const owner = await market(id.toString());
      if (!owner) throw new Error(`tokens of an unknown market ${id.toString()}`);
      for (const outcome of [0, 1] as const) tokens.push(tokenBalance(owner, outcome, packed));
    }
    return {
      freeMicro: micro(cash.length ? decodeCash(cash).freeMicro : grantMicro),
      reservedMicro: micro(cash.length ? decodeCash(cash).reservedMicro : 0),
      tokens: tokens.filter((token) => token.freeMicro + token.reservedMicro > 0),
    };
  }

  /** The maker's current nonce. */
  async function nonce(address: string): Promise<number> {
    const cash = await redis.hgetBuffer(keys.cash, addressBytes(address));
    return cash ? decodeCash(cash).nonce : 0;
  }

  const orders = createOrderReads({ redis, run, keys, show });
  const wallets = createWalletReads({ redis, keys, order: orders.order });
  return {
    market,
    view,
    snapshot,
    trades,
    ...orders,
    balances,
    nonce,
    ...wallets,
    candles: history.candles,
    clock: () => clock.now(),
    /** The current mode of the exchange. */
    mode: coalesce(() => readMode(redis, keys)),
    kept,
  };
}

function newestFirst([id, [, packed]]: StreamEntry): Fill[] {
  const [ms, sequence] = id.toString().split('-').map(Number);
  return decodeFills(ms ?? 0, sequence ?? 0, packed).reverse();
}

function tokenBalance(market: Market, outcome: OutcomeIndex, packed: Buffer): TokenBalance {
  const { freeMicro, reservedMicro } = decodeTokens(packed)[outcome];
  return {
    marketId: market.terms.id,
    outcome,
    tokenId: market.terms.tokenIds[outcome],
    freeMicro: micro(freeMicro),
    reservedMicro: micro(reservedMicro),
  };
}
