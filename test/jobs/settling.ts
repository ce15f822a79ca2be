import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { binaryMarketIds } from '../../src/chain/ctf';
import type { Market } from '../../src/exchange/facts';
import type { Side } from '../../src/exchange/match';
import { chainScale, orderOf, type SignedOrder, ZERO_ADDRESS } from '../../src/exchange/order';
import { partsOf } from '../../src/exchange/settlement';
import { lots, micro } from '../../src/exchange/units';
import type { RunningRedis } from '../../src/local/redis';
import { createHistory } from '../../src/store/candles/history';
import { runProbe } from '../../src/store/health/health';
import { createMarkets } from '../../src/store/markets/markets';
import { createLease } from '../../src/store/outbox/lease';
import { decodeEvent } from '../../src/store/outbox/outbox';
import { createAnswerCache } from '../../src/store/reads/answer-cache';
import { createReads } from '../../src/store/reads/reads';
import { packSigned } from '../../src/store/records/signed-order';
import { createClock } from '../../src/store/redis/clock';
import { createKeys, type Keys } from '../../src/store/redis/keys';
import { createScripts, type RedisClient } from '../../src/store/redis/scripts';
import { createMatches } from '../../src/store/settlement/matches';
import { createSettlements } from '../../src/store/settlement/settlements';
import { createEngine } from '../../src/store/verbs/engine';
import { PLAIN_TERMS } from '../support/engine-order';
import { startTestRedis } from '../support/redis';
import { sleep } from '../support/waiting';

const GRANT = micro(1_000_000_000_000_000);
export const scale = chainScale(18);

export type Settling = Awaited<ReturnType<typeof startSettling>>;

/** The store on its own or another Redis, with a market in which matches can be made at will. */
export async function startSettling(on?: Pick<RunningRedis, 'url' | 'stop'>) {
  const server = on ?? (await startTestRedis());
  const redis = new Redis(server.url);
  return {
    ...(await openSettling(redis, createKeys())),
    server,
    async stop() {
      redis.disconnect();
      await server.stop();
    },
  };
}

/** The same in one of several shards. */
export async function openSettling<Client extends RedisClient>(redis: Client, keys: Keys) {
  const run = createScripts(redis);
  const clock = createClock(() => runProbe(run, keys));
  await clock.measure();
  const doubts = (): number => 0;
  const engine = createEngine({ run, keys, grantMicro: GRANT, makersMax: 500 });
  const history = createHistory({ redis, run, keys, doubts });
  const reads = createReads({
    redis,
    run,
    keys,
    clock,
    history,
    doubts,
    kept: createAnswerCache({ redis, keys, clock, doubts }),
    grantMicro: GRANT,
  });
  const settlements = createSettlements({ redis, run, keys });
  const matches = createMatches({ redis, run, keys, settlements });
  const relayLease = createLease({ redis, run, keys }, 'settlement', keys.relayLease);
  const oracle = `0x${'11'.repeat(20)}`;
  const markets = createMarkets({
    engine,
    clock,
    defaultOracle: oracle,
    ctfIds: (by, questionId) => binaryMarketIds({ oracle: by, questionId, collateral: oracle }),
  });
  const wallets = Array.from({ length: 6 }, () => `0x${randomBytes(20).toString('hex')}`);

  const anybody = (): string => wallets[Math.floor(Math.random() * wallets.length)] ?? '';

  /** The number of records of all matches so far. */
  const made = { records: 0 };

  const createMarket = (feeRateBps = 0): Promise<Market> =>
    markets.create({ question: `q ${randomBytes(6).toString('hex')}`, feeRateBps, minOrderLots: lots(1) });

  /** BUY Yes and BUY No meet and mint, so neither needs tokens. */
  async function place({ terms }: Market, outcome: 0 | 1, pips: number, size: number, maker = anybody()) {
    const tokens = BigInt(size) * scale.lotAmount;
    const signed: SignedOrder = {
      salt: BigInt(`0x${randomBytes(8).toString('hex')}`),
      maker,
      signer: maker,
      taker: ZERO_ADDRESS,
      tokenId: BigInt(terms.tokenIds[outcome]),
      makerAmount: BigInt(size) * BigInt(pips) * scale.microAmount,
      takerAmount: tokens,
      expiration: 0n,
      nonce: 0n,
      feeRateBps: BigInt(terms.feeRateBps),
      side: 0 as Side,
      signatureType: 0,
      signature: '0x',
    };
    const reply = await engine.place({
      marketId: terms.id,
      orderHash: `0x${randomBytes(32).toString('hex')}`,
      maker,
      order: orderOf(signed, outcome, 'GTC', terms, scale),
      orderType: 'GTC',
      ...PLAIN_TERMS,
      feeRateBps: terms.feeRateBps,
      lotLots: terms.lotLots,
      signed: packSigned(signed, randomBytes(65)),
    });
    made.records += partsOf(reply.fills.length);
    return reply;
  }

  /** One submission that meets a number of makers. */
  async function match(market: Market, makers = 1): Promise<Awaited<ReturnType<typeof place>>> {
    for (let i = 0; i < makers; i++) await place(market, 1, 4_000, 10);
    return place(market, 0, 6_000, 10 * makers);
  }

  /** Every match of the markets, with its number of settlements and of reports. */
  async function census(of: readonly Market[]) {
    let fills = 0;
    let parts = 0;
    const missing: string[] = [];
    for (const { terms } of of) {
      for (const [id, fields] of await redis.xrangeBuffer(keys.trades(terms.id), '-', '+')) {
        const count = (fields[1] as Buffer).readUInt16BE(34);
        const [tradeMs = 0, sequence = 0] = id.toString().split('-').map(Number);
        const takerHash = `0x${(fields[1] as Buffer).toString('hex', 0, 32)}`;
        fills += count;
        parts += partsOf(count);
        const list = Array.from({ length: count }, (_, index) => ({ tradeMs, takerHash, sequence, index }));
        for (const fill of await settlements.show(terms.id, list)) {
          if (fill.settlementStatus !== 'CONFIRMED') missing.push(`${terms.id}-${sequence}-${fill.index}`);
        }
      }
    }
    const told = await redis.xrangeBuffer(keys.outbox, '-', '+');
    return {
      fills,
      parts,
      missing,
      records: await redis.hlen(keys.settlements),
      listed: await redis.xlen(keys.settlementList),
      told: told.filter(([, fields]) => decodeEvent(fields[1] as Buffer).kind === 'SETTLE').length,
    };
  }

  /** Waits until that number of records is CONFIRMED or `limitMs` have passed; resolves with the time it took. */
  async function drained(records: number, limitMs: number): Promise<number> {
    const start = Date.now();
    for (;;) {
      const [stored, open] = await Promise.all([redis.hlen(keys.settlements), redis.zcard(keys.unsettled)]);
      if (stored - open >= records || Date.now() - start > limitMs) return Date.now() - start;
      await sleep(20);
    }
  }

  return {
    redis,
    run,
    keys,
    clock,
    doubts,
    engine,
    reads,
    settlements,
    matches,
    wallets,
    made,
    markets,
    relayLease,
    createMarket,
    place,
    match,
    census,
    drained,
  };
}
