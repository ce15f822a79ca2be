import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import type { MarketTerms } from '../../src/exchange/market';
import type { Side } from '../../src/exchange/match';
import { chainScale, orderOf, type SignedOrder, ZERO_ADDRESS } from '../../src/exchange/order';
import { settlementsOf } from '../../src/exchange/settlement';
import type { OrderType } from '../../src/exchange/status';
import { lots, micro, pips } from '../../src/exchange/units';
import type { RunningRedis } from '../../src/local/redis';
import { readUInt } from '../../src/store/records/layout';
import type { Fill } from '../../src/store/records/order';
import { packSigned } from '../../src/store/records/signed-order';
import { createKeys } from '../../src/store/redis/keys';
import { createScripts } from '../../src/store/redis/scripts';
import { createEngine, type Engine } from '../../src/store/verbs/engine';
import type { PlaceReply } from '../../src/store/verbs/place';
import { createContract, OPERATOR } from '../model/contract';
import { PLAIN_TERMS } from '../support/engine-order';
import { createRandom, type Random } from '../support/random';
import { startTestRedis } from '../support/redis';
import { chooseSeed } from '../support/telling';

/**
 * Sends random signed orders through the real engine, and every match as `matchOrders` through the arithmetic of the
 * contract: it never reverts, the exchange keeps nothing, and both ledgers agree. SEED repeats a run.
 */
const SEED = chooseSeed('settlement against the contract');
const ORDERS = 1_500;
const WALLETS = 5;
const GRANT = micro(1_000_000_000_000);
const SETS = micro(100_000_000_000);
const keys = createKeys();
const TOKENS = [71n, 72n] as const;

/** Tick in pips, lot in lots, fee in basis points, decimals of the collateral. */
const MARKETS = [
  { tick: 100, lot: 1, fee: 0, decimals: 18 },
  { tick: 10, lot: 100, fee: 37, decimals: 18 },
  { tick: 1, lot: 1, fee: 1_000, decimals: 6 },
  { tick: 1_000, lot: 7, fee: 250, decimals: 18 },
] as const;

let server: RunningRedis;
let redis: Redis;
let engine: Engine;

beforeAll(async () => {
  server = await startTestRedis();
  redis = new Redis(server.url);
  engine = createEngine({ run: createScripts(redis), grantMicro: GRANT, makersMax: 500 });
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

test.each(MARKETS.map((market, i) => [market, i] as const))(`seed ${SEED}: %j`, async (market, i) => {
  const random = createRandom(SEED + i);
  const world = await createWorld(market, random);
  let matches = 0;
  let most = 0;
  for (let n = 0; n < ORDERS; n++) {
    const fills = await world.step(n % 300 === 299 ? 'sweep' : n % 300 > 180 ? 'deep' : 'usual');
    if (fills > 0) matches++;
    most = Math.max(most, fills);
  }
  await world.compare();
  expect(matches).toBeGreaterThan(ORDERS / 6);
  // At least one match was split into several records.
  expect(most).toBeGreaterThan(50);
});

async function createWorld(setting: (typeof MARKETS)[number], random: Random) {
  const { tick, lot, fee, decimals } = setting;
  const scale = chainScale(decimals);
  const id = randomBytes(4).toString('hex');
  const terms = {
    id,
    tokenIds: TOKENS.map(String),
    tickPips: pips(tick),
    lotLots: lots(lot),
    minOrderLots: lots(lot),
    feeRateBps: fee,
  } as unknown as MarketTerms;
  await engine.createMarket({ id, conditionId: `0x${id}`, slug: id }, '{}', 'OPEN');
  const contract = createContract(TOKENS);
  const wallets = Array.from({ length: WALLETS }, () => `0x${randomBytes(20).toString('hex')}`);
  for (const wallet of wallets) {
    await engine.convert(id, wallet, SETS, randomBytes(8).toString('hex'));
    contract.give(wallet, 0n, BigInt(GRANT - SETS) * scale.microAmount);
    for (const token of TOKENS) contract.give(wallet, token, BigInt(SETS) * scale.microAmount);
  }
  const signedOrders = new Map<string, SignedOrder>();
  /** The amounts that the ledger did not charge because it floors a fee to the micro-unit, by wallet and asset. */
  const floored = new Map<string, bigint>();
  const centre = random.int(1, 10_000 / tick - 1);

  function signed(kind: string): { order: SignedOrder; type: OrderType } {
    const side = random.int(0, 1) as Side;
    const outcome = random.int(0, 1);
    const type: OrderType =
      kind === 'sweep'
        ? 'IOC'
        : kind === 'deep'
          ? 'GTC'
          : random.weighted({ GTC: 60, IOC: 8, FOK: 5, POST_ONLY: 3, MARKET: 24 });
    const spread = kind === 'sweep' ? 40 : 3;
    // A sweep pays any price, the deep ones rest behind the best.
    const isBid = (side === 0) === (outcome === 0);
    const drift =
      kind === 'usual' ? random.int(-spread, spread) : kind === 'sweep' ? spread : -random.int(1, 3);
    const ticks = Math.min(Math.max(centre + (isBid ? drift : -drift), 1), 10_000 / tick - 1);
    const price = BigInt(outcome === 0 ? ticks * tick : 10_000 - ticks * tick);
    const size = BigInt(
      (kind === 'sweep' ? random.int(200, 900) : random.int(1, kind === 'deep' ? 2 : 40)) * lot,
    );
    const tokens = size * scale.lotAmount;
    let cash = size * price * scale.microAmount;
    let asked = tokens;
    if (type === 'MARKET') {
      // A limit off the tick, a size off the lot, now and then no limit at all.
      cash += BigInt(random.int(0, 1_000_000)) * (scale.microAmount / 1_000n || 1n);
      if (side === 0) asked = random.chance(0.2) ? 1n : tokens - BigInt(random.int(0, 999));
      else if (random.chance(0.2)) cash = 1n;
    }
    const order: SignedOrder = {
      salt: BigInt(`0x${randomBytes(16).toString('hex')}`),
      maker: random.pick(wallets),
      signer: ZERO_ADDRESS,
      taker: ZERO_ADDRESS,
      tokenId: TOKENS[outcome] ?? 0n,
      makerAmount: side === 0 ? cash : tokens,
      takerAmount: side === 0 ? asked : cash,
      expiration: 0n,
      nonce: 0n,
      feeRateBps: BigInt(fee),
      side,
      signatureType: 0,
      signature: '0x',
    };
    return { order: { ...order, signer: order.maker }, type };
  }

  async function place(order: SignedOrder, type: OrderType): Promise<PlaceReply | null> {
    const outcome = order.tokenId === TOKENS[0] ? 0 : 1;
    const orderHash = `0x${randomBytes(32).toString('hex')}`;
    try {
      const reply = await engine.place({
        marketId: id,
        orderHash,
        maker: order.maker,
        order: orderOf(order, outcome, type, terms, scale),
        orderType: type,
        ...PLAIN_TERMS,
        feeRateBps: fee,
        lotLots: lots(lot),
        signed: packSigned(order, Buffer.alloc(65)),
      });
      signedOrders.set(orderHash, order);
      return reply;
    } catch (error) {
      if (error instanceof Error && error.name === 'Refusal') return null;
      throw error;
    }
  }

  const signedOf = (hash: string): SignedOrder => {
    const found = signedOrders.get(hash);
    if (!found) throw new Error(`no order ${hash}`);
    return found;
  };
  const note = (who: string, asset: bigint, chain: bigint, ledger: bigint, fills = 1): void => {
    const missing = chain - ledger * scale.microAmount;
    expect(missing).toBeGreaterThanOrEqual(0n);
    expect(missing).toBeLessThan(BigInt(fills) * scale.microAmount);
    for (const [name, sign] of [
      [who, 1n],
      [OPERATOR, -1n],
    ] as const)
      floored.set(`${name}/${asset}`, (floored.get(`${name}/${asset}`) ?? 0n) + sign * missing);
  };
  const feeAsset = (order: SignedOrder): bigint => (order.side === 0 ? order.tokenId : 0n);

  function settle({ record }: PlaceReply, fills: readonly Fill[]): void {
    const match = {
      taker: record,
      isBudget: record.orderType === 'MARKET' && record.side === 0,
      feeRateBps: fee,
      fills: fills.map((fill) => ({ ...fill, maker: limitOf(fill.makerHash) })),
    };
    let at = 0;
    for (const part of settlementsOf(match, scale)) {
      const own = fills.slice(at, at + part.makerHashes.length);
      at += own.length;
      const taker = signedOf(part.takerHash);
      const makers = part.makerHashes.map(signedOf);
      const done = contract.matchOrders({ ...part, takerOrder: taker, makerOrders: makers });
      expect(contract.kept()).toEqual([0n, 0n, 0n]);
      expect(done.refund).toBe(part.refundAmount);
      expect(done.takerFee).toBe(part.takerFeeAmount);
      expect(done.makerFees).toEqual(part.makerFeeAmounts);
      const takerFee = own.reduce((sum, fill) => sum + fill.takerFeeMicro, 0);
      note(taker.maker, feeAsset(taker), done.takerFee, BigInt(takerFee), own.length);
      for (const [i, maker] of makers.entries()) {
        note(maker.maker, feeAsset(maker), done.makerFees[i] ?? 0n, BigInt(own[i]?.makerFeeMicro ?? 0));
      }
    }
    expect(at).toBe(fills.length);
    // For an order with a size, the chain has the same rest as the book.
    if (!match.isBudget) {
      const rest = BigInt(record.sizeLots - record.filledLots);
      const whole = signedOf(record.orderHash).makerAmount;
      expect(contract.remaining(signedOf(record.orderHash))).toBe((whole * rest) / BigInt(record.sizeLots));
    }
  }

  /** Makers are exact: their limit follows from what they signed. */
  function limitOf(orderHash: string) {
    const { side, makerAmount, takerAmount } = signedOf(orderHash);
    const [cash, tokens] = side === 0 ? [makerAmount, takerAmount] : [takerAmount, makerAmount];
    return { orderHash, side, pricePips: pips(Number((cash * 10_000n) / tokens)) };
  }

  return {
    async step(kind: string): Promise<number> {
      const { order, type } = signed(kind);
      const reply = await place(order, type);
      if (reply && reply.fills.length > 0) settle(reply, reply.fills);
      return reply?.fills.length ?? 0;
    },
    async compare(): Promise<void> {
      for (const wallet of wallets) await compareWallet(wallet, Buffer.from(wallet.slice(2), 'hex'), wallet);
      await compareWallet('fee', Buffer.from('fee'), OPERATOR);
    },
  };

  async function compareWallet(name: string, account: Buffer, onChain: string): Promise<void> {
    const cash = name === 'fee' ? null : await redis.hgetBuffer(keys.cash, account);
    const held = await redis.hgetBuffer(keys.tokens(id), account);
    const stored = [cash && total(cash, 0), held ? total(held, 0) : 0n, held ? total(held, 14) : 0n];
    for (const [i, asset] of [0n, ...TOKENS].entries()) {
      const ledger = stored[i];
      // The fee account's collateral is shared by all markets of the file.
      if (ledger === null || ledger === undefined) continue;
      const dust = floored.get(`${onChain}/${asset}`) ?? 0n;
      expect([name, asset, contract.balance(onChain, asset) + dust]).toEqual([
        name,
        asset,
        ledger * scale.microAmount,
      ]);
    }
  }
}

/** Free and reserved. */
const total = (packed: Buffer, at: number): bigint =>
  BigInt(readUInt(packed, at, 7) + readUInt(packed, at + 7, 7));
