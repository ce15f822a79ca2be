import { createHash } from 'node:crypto';
import type { MarketId, OutcomeIndex } from '../../src/exchange/market';
import type { Side } from '../../src/exchange/match';
import type { OrderType, SelfTradePrevention } from '../../src/exchange/status';
import {
  formatLots,
  formatMicro,
  formatPips,
  type Lots,
  lots,
  type Micro,
  micro,
  parseLots,
  parsePips,
  parseScaled,
} from '../../src/exchange/units';
import { decodeEvent, type OutboxEvent } from '../../src/store/outbox/outbox';
import { connect, disconnect, ready } from '../../src/store/redis/connection';
import { createKeys } from '../../src/store/redis/keys';
import { createScripts } from '../../src/store/redis/scripts';
import { createEngine } from '../../src/store/verbs/engine';
import type { PlaceReply, PlaceRequest } from '../../src/store/verbs/place';
import { signedAs } from '../store/fuzzing/requests';
import { CLOCK_KEY, FAKE_CLOCK, patchedScripts } from '../store/fuzzing/scripts';
import { readState } from '../store/fuzzing/stored';
import { READY_MS } from './waiting';

const MICRO_DECIMALS = 6;
/** Whole units of money or shares, as micro-units. */
export const parseMicro = (text: string): Micro => micro(Number(parseScaled(text, MICRO_DECIMALS)));

/** The engine on its own Redis, in whole units, for tests that tell a story with numbers. */
export const alice = `0x${'a1'.repeat(20)}`;
export const bob = `0x${'b0'.repeat(20)}`;
export const carla = `0x${'ca'.repeat(20)}`;
export const [YES, NO]: readonly [OutcomeIndex, OutcomeIndex] = [0, 1];

export interface EngineWorldOptions {
  /** One address, or the nodes of a cluster. */
  readonly urls: readonly string[];
  readonly makersMax?: number;
  /** Whole units; default 10000. */
  readonly grant?: string;
}
export interface MarketOptions {
  readonly id?: MarketId;
  readonly feeRateBps?: number;
  readonly lotSize?: string;
}
export interface OrderOptions {
  readonly type?: OrderType;
  readonly prevention?: SelfTradePrevention;
  /** Epoch seconds. */
  readonly expires?: number;
  readonly deadlineMs?: number;
  readonly nonce?: number;
  readonly dryRun?: boolean;
  /** What a MARKET BUY may spend, in collateral. */
  readonly budget?: string;
  readonly clientOrderId?: string;
}

/** The second at which the clock of a world starts. */
export const START_SECOND = 1_800_000_000;

export type EngineWorld = Awaited<ReturnType<typeof openEngineWorld>>;

/** Empties the Redis. Its scripts read the time from a key, which only `clock` changes. */
export async function openEngineWorld({ urls, makersMax = 500, grant = '10000' }: EngineWorldOptions) {
  const redis = connect({ urls });
  await ready(redis, READY_MS);
  const masters = 'nodes' in redis ? redis.nodes('master') : [redis];
  for (const master of masters) await master.flushall();
  const keys = createKeys();
  const run = createScripts(redis, patchedScripts([FAKE_CLOCK]));
  const engine = createEngine({ run, grantMicro: parseMicro(grant), makersMax });
  const markets = new Map<MarketId, { feeRateBps: number; lotLots: Lots }>();
  let nowMs = 0;
  let serial = 0;
  const clock = async (ms: number): Promise<void> => {
    nowMs = ms;
    await redis.set(CLOCK_KEY, ms);
  };
  await clock(START_SECOND * 1000);

  async function market({ id = 'market00', feeRateBps = 0, lotSize = '0.01' }: MarketOptions = {}) {
    await engine.createMarket({ id, conditionId: `0x${id}`, slug: id }, '{}', 'OPEN');
    markets.set(id, { feeRateBps, lotLots: parseLots(lotSize) });
    return id;
  }

  /** A new order each time; size and price as decimal strings. */
  function order(
    side: Side,
    maker: string,
    outcome: OutcomeIndex,
    size: string,
    price: string,
    more: OrderOptions & { market?: MarketId } = {},
  ): PlaceRequest {
    const marketId = more.market ?? [...markets.keys()][0] ?? '';
    const { feeRateBps, lotLots } = markets.get(marketId) ?? { feeRateBps: 0, lotLots: lots(1) };
    const signed = signedAs(`order ${serial++}`, more.nonce ?? 0);
    return {
      marketId,
      orderHash: `0x${createHash('sha256').update(signed).digest('hex')}`,
      maker,
      order: {
        side,
        outcome,
        pricePips: parsePips(price),
        sizeLots: parseLots(size),
        budgetMicro: parseMicro(more.budget ?? '0'),
      },
      orderType: more.type ?? 'GTC',
      selfTradePrevention: more.prevention ?? 'NONE',
      expirationSec: more.expires ?? 0,
      nonce: more.nonce ?? 0,
      feeRateBps,
      lotLots,
      deadlineMs: more.deadlineMs ?? 0,
      clientOrderId: more.clientOrderId ?? null,
      signed,
      dryRun: more.dryRun ?? false,
    };
  }
  type Rest = [
    outcome: OutcomeIndex,
    size: string,
    price: string,
    more?: OrderOptions & { market?: MarketId },
  ];
  const buy = (maker: string, ...rest: Rest): PlaceRequest => order(0, maker, ...rest);
  const sell = (maker: string, ...rest: Rest): PlaceRequest => order(1, maker, ...rest);

  /** Splits sets of a market from the wallet's collateral. */
  const split = (who: string, sets: string, id = [...markets.keys()][0] ?? '') =>
    engine.convert(id, who, parseMicro(sets), `split ${serial++}`);

  async function state(wallets: readonly string[] = [], hashes: readonly string[] = []) {
    return readState(run, keys, { markets: [...markets.keys()], wallets, hashes, news: 0 });
  }

  /** The balances of a wallet, free and (in parentheses) reserved: '9945 (0)' of each asset. */
  async function balance(who: string, id = [...markets.keys()][0] ?? '') {
    const { money, markets: stored } = await state();
    const [free = parseMicro(who === 'fee' ? '0' : grant), reserved = 0n] = money.cash.get(who) ?? [];
    const tokens = stored[[...markets.keys()].indexOf(id)]?.tokens.get(who) ?? [0n, 0n, 0n, 0n];
    const text = (a: number | bigint = 0n, b: number | bigint = 0n) =>
      `${formatMicro(a)} (${formatMicro(b)})`;
    return { cash: text(free, reserved), yes: text(tokens[0], tokens[1]), no: text(tokens[2], tokens[3]) };
  }

  /** The Yes book as '<price> <size> <orders>', best first, and the market's other figures. */
  async function book(id = [...markets.keys()][0] ?? '') {
    const stored = (await state()).markets[[...markets.keys()].indexOf(id)];
    if (!stored) throw new Error(`no market ${id}`);
    const side = (name: 'a' | 'b'): string[] =>
      [...stored.levels]
        .filter(([level]) => level.startsWith(name))
        .map(([level, total]) => [Number(level.slice(1)), ...total.split('/').map(Number)] as const)
        .sort(([a], [b]) => (name === 'b' ? b - a : a - b))
        .map(([price, size = 0, orders]) => `${formatPips(price)} ${formatLots(size)} ${orders}`);
    const field = (name: string): number => Number(stored.fields.get(name));
    return {
      bids: side('b'),
      asks: side('a'),
      sequence: field('q'),
      last: field('lp') === 0 ? null : formatPips(field('lp')),
      volume: formatMicro(field('vol')),
      openInterest: formatMicro(field('oi')),
      liquidity: formatMicro(field('liq')),
    };
  }

  /** The order as it is stored, or null. */
  const stored = async (request: PlaceRequest) => (await state([], [request.orderHash])).records[0] ?? null;

  /** Every entry of the outbox, oldest first. */
  async function outbox(): Promise<OutboxEvent[]> {
    const entries = await redis.xrangeBuffer(keys.outbox, '-', '+');
    return entries.map(([, fields]) => decodeEvent(fields[1] as Buffer));
  }

  const stop = (): void => disconnect(redis);
  return {
    redis,
    masters,
    engine,
    run,
    keys,
    market,
    order,
    buy,
    sell,
    split,
    state,
    balance,
    book,
    stored,
    outbox,
    clock,
    stop,
    now: () => nowMs,
    place: engine.place,
  };
}

/** A submission in one line each: 'FILLED 100 of 100' and '100 @ 0.55 MINT'. */
export function told({ record, fills }: PlaceReply) {
  const reason = record.reason ? ` ${record.reason}` : '';
  return {
    result: `${record.status}${reason} ${formatLots(record.filledLots)} of ${formatLots(record.sizeLots)}`,
    fills: fills.map((f) => `${formatLots(f.sizeLots)} @ ${formatPips(f.pricePips)} ${f.matchType}`),
  };
}
