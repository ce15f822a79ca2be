import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { binaryMarketIds } from '../../../src/chain/ctf';
import type { AuditReport, Difference } from '../../../src/exchange/audit';
import type { Market } from '../../../src/exchange/facts';
import type { OutcomeIndex } from '../../../src/exchange/market';
import type { Side } from '../../../src/exchange/match';
import { chainScale } from '../../../src/exchange/order';
import { lots, micro, pips } from '../../../src/exchange/units';
import { createSettle } from '../../../src/jobs/settle';
import { runProbe } from '../../../src/store/health/health';
import { createMarkets } from '../../../src/store/markets/markets';
import type { MatchRef } from '../../../src/store/records/settlement';
import { createClock } from '../../../src/store/redis/clock';
import { createKeys } from '../../../src/store/redis/keys';
import { createScripts, type RedisClient } from '../../../src/store/redis/scripts';
import { createMatches } from '../../../src/store/settlement/matches';
import { createSettlements } from '../../../src/store/settlement/settlements';
import { createEngine } from '../../../src/store/verbs/engine';
import { createAudit } from '../../support/audit';
import { signedAs } from '../fuzzing/requests';

const GRANT = micro(1_000_000_000_000);
const scale = chainScale(18);

export type Auditing = ReturnType<typeof openAuditing>;

/** The store on one connection, with everything that makes trades, settles them and audits. */
export const openAuditing = (url: string) => auditingOn(new Redis(url));

export function auditingOn<Client extends RedisClient>(redis: Client) {
  const run = createScripts(redis);
  const keys = createKeys();
  const clock = createClock(() => runProbe(run, keys));
  const engine = createEngine({ run, grantMicro: GRANT, makersMax: 500 });
  const settlements = createSettlements({ redis, run, keys });
  const matches = createMatches({ redis, run, keys, settlements });
  const oracle = `0x${'11'.repeat(20)}`;
  const markets = createMarkets({
    engine,
    clock,
    defaultOracle: oracle,
    ctfIds: (by, questionId) => binaryMarketIds({ oracle: by, questionId, collateral: oracle }),
  });
  const known = new Map<string, Market>();
  const wallets = Array.from({ length: 8 }, () => `0x${randomBytes(20).toString('hex')}`);
  const audit = createAudit({ redis, run, keys, scale });
  const matched: MatchRef[] = [];

  async function createMarket(feeRateBps = 0): Promise<Market> {
    await clock.measure();
    const question = `q ${randomBytes(6).toString('hex')}`;
    const closesAtMs = Date.now() + 3_600_000;
    // A title may have more than one line.
    const event = { slug: 'audited', title: 'one\ntwo\u2028three' };
    const market = await markets.create({ question, feeRateBps, closesAtMs, minOrderLots: lots(1), event });
    known.set(market.terms.id, market);
    return market;
  }

  /** Size in lots. */
  async function place(
    { terms }: Market,
    maker: string,
    side: Side,
    outcome: OutcomeIndex,
    price: number,
    size: number,
    expirationSec = 0,
  ) {
    const reply = await engine.place({
      marketId: terms.id,
      orderHash: `0x${randomBytes(32).toString('hex')}`,
      maker,
      order: { side, outcome, pricePips: pips(price), sizeLots: lots(size), budgetMicro: micro(0) },
      orderType: 'GTC',
      selfTradePrevention: 'NONE',
      expirationSec,
      nonce: 0,
      feeRateBps: terms.feeRateBps,
      lotLots: terms.lotLots,
      deadlineMs: 0,
      clientOrderId: null,
      signed: signedAs(randomBytes(8).toString('hex'), 0),
      dryRun: false,
    });
    const { marketId, fillMs: tradeMs, sequence } = reply.record;
    if (reply.fills.length > 0) matched.push({ marketId, tradeMs, sequence });
    return reply.record;
  }

  const split = ({ terms }: Market, wallet: string, sets: number) =>
    engine.convert(terms.id, wallet, micro(sets), randomBytes(8).toString('hex'));

  /** Writes the records of everything that matched so far. */
  async function settle(): Promise<void> {
    const termsOf = async (id: string) => {
      const market = known.get(id);
      if (!market) throw new Error(`no market ${id}`);
      return market.terms;
    };
    const failures = await createSettle({ matches, settlements, termsOf, scale })(matched.splice(0));
    if (failures[0]) throw failures[0].error;
  }

  /** A market that has ended and is paid out: with `outcome` null it is void. */
  async function endedMarket(outcome: OutcomeIndex | null): Promise<Market> {
    const market = await liveMarket(130);
    await markets.resolve(market.terms.id, outcome);
    return market;
  }

  /** A market with everything that an audit reads: resting orders on both sides, fills, fees, expiries, holders. */
  async function liveMarket(feeRateBps: number): Promise<Market> {
    const market = await createMarket(feeRateBps);
    const [alice = '', bob = '', carla = '', dora = ''] = wallets;
    const later = Math.floor(Date.now() / 1000) + 3_600;
    await split(market, alice, 50_000_000);
    await place(market, bob, 0, 0, 4_000, 1_000);
    await place(market, bob, 0, 0, 4_000, 500, later);
    await place(market, alice, 1, 0, 6_000, 800, later);
    await place(market, alice, 1, 1, 7_000, 300);
    await place(market, carla, 0, 1, 5_500, 1_000);
    await place(market, dora, 0, 0, 4_500, 700);
    await place(market, dora, 1, 0, 4_000, 100);
    const { orderHash } = await place(market, carla, 0, 0, 1_000, 40, later);
    await engine.cancel(market.terms.id, carla, orderHash, 'USER');
    await settle();
    return market;
  }

  return {
    redis,
    run,
    keys,
    engine,
    markets,
    matches,
    settlements,
    wallets,
    known,
    audit,
    createMarket,
    place,
    split,
    settle,
    liveMarket,
    endedMarket,
    stop: () => redis.disconnect(),
  };
}

/** The content of a report for comparison: the kinds with their places. */
export const told = ({ differences }: AuditReport): string[] =>
  differences.map(({ kind, marketId, wallet, orderHash, asset, side, price }: Difference) =>
    [kind, marketId, wallet, orderHash?.slice(0, 10), asset, side, price].filter(Boolean).join(' '),
  );

/** The world in which the corruptions are made, prepared before the first of them. */
export interface Stage {
  exchange: Auditing;
  market: Market;
  voided: Market;
}

/** An open order of the market, by its side, and a match of it. */
export async function findOrder({ exchange, market }: Stage, side: 'bids' | 'asks', at = 0) {
  const { redis, keys } = exchange;
  const [member] = await redis.zrangeBuffer(keys[side](market.terms.id), at, `${at}`);
  if (!member) throw new Error('no such order');
  return { member, hash: member.subarray(6), orderHash: `0x${member.toString('hex', 6)}` };
}

export const changed = (packed: Buffer | null, at: number, by: number): Buffer => {
  const copy = Buffer.from(packed ?? Buffer.alloc(0));
  copy[at] = (copy[at] ?? 0) + by;
  return copy;
};

export type Found = Partial<Difference> & { kind: string };
export type Corruption = readonly [
  name: string,
  spoil: () => Promise<Found | readonly Found[]>,
  keys: () => (string | Buffer)[],
];
