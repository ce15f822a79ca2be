import { AbiCoder } from 'ethers';
import { WALLET_READER } from '../../../src/chain/artifacts';
import type { SignedOrder } from '../../../src/exchange/order';
import { createExchangeModel, UNLIMITED } from '../../model/exchange-contract';
import type { Random } from '../../support/random';
import { SCALE } from './predicted';
import { creationOf } from './rpc';
import { CODE, setCode } from './stories';
import { type ChainMatch, COLLATERAL, type Market, newTrader, ONE, type Trader, type World } from './world';

/** Wallets, orders and matches for the fuzz of the exchange contract, with the model beside the chain. */

const CASH = 1_000n * ONE;
const SETS = 600n * ONE;
const WALLETS = 7;
const PIPS_ONE = 10_000;
const TICK_PIPS = 500;
/** The first nonce that is too far above a wallet's own. */
const FAR = 1_000_001n;

export type FuzzWorld = Awaited<ReturnType<typeof createFuzzWorld>>;

export async function createFuzzWorld(world: World, random: Random, name: string) {
  const markets = [await world.openMarket(`${name} a`), await world.openMarket(`${name} b`)];
  const traders = Array.from({ length: WALLETS }, newTrader);
  /** The last one is a contract: it takes no tokens, and its signature is what its code answers. */
  const contract = traders.at(-1) as Trader;
  const unsigned = new Set<SignedOrder>();
  const complements = new Map(
    markets.flatMap(({ tokens: [yes, no] }) => [[yes, no] as const, [no, yes] as const]),
  );
  const model = createExchangeModel({
    exchange: world.exchange,
    framework: world.ctf,
    fees: world.fees.address,
    complements,
    hashOf: world.hashOf,
    isSigned: (order) => !unsigned.has(order),
  });
  for (const trader of traders) {
    await world.fund(trader.address, CASH);
    model.add(trader.address, COLLATERAL, CASH);
    for (const market of markets) {
      await world.fund(trader.address, 0n, market, SETS);
      for (const token of market.tokens) model.add(trader.address, token, SETS);
      model.add(world.ctf, COLLATERAL, SETS);
    }
    const isContract = trader === contract;
    if (isContract) await setCode(world, trader.address, CODE.acceptsSignatures);
    model.wallets.set(trader.address, {
      allowance: UNLIMITED,
      isApproved: true,
      isTrap: isContract,
      isSigning: true,
      nonce: 0n,
      raised: null,
    });
  }

  const makers: SignedOrder[] = [];
  const settled: ChainMatch[] = [];
  let nextId = BigInt(random.int(1, 1_000_000)) << 56n;

  /** The nonce that the wallet asked for last is valid, pending or not. */
  function nonceFor({ address }: Trader): bigint {
    const wallet = model.wallets.get(address);
    return wallet?.raised?.to ?? wallet?.nonce ?? 0n;
  }

  /** An order at a price on the tick. Now and then something is wrong with it. */
  function order(
    trader: Trader,
    tokenId: bigint,
    side: 0 | 1,
    pips: number,
    lots: number,
    feeRateBps: number,
  ): SignedOrder {
    const tokens = BigInt(lots) * SCALE.lotAmount;
    const cash = BigInt(lots * pips) * SCALE.microAmount;
    const [makerAmount, takerAmount] = side === 0 ? [cash, tokens] : [tokens, cash];
    const isContract = trader === contract;
    const terms = {
      tokenId,
      side,
      makerAmount,
      takerAmount,
      feeRateBps: BigInt(feeRateBps),
      nonce: random.chance(0.95) ? nonceFor(trader) : random.pick([0n, nonceFor(trader) + FAR]),
      expiration: random.chance(0.02) ? 1n : 0n,
      signatureType: isContract ? 3 : 0,
    };
    const signed = world.sign(trader, terms);
    if (!isContract && random.chance(0.02)) {
      const forged = { ...signed, signature: world.sign(newTrader(), terms).signature };
      unsigned.add(forged);
      return forged;
    }
    return signed;
  }

  /** A maker that usually crosses the taker: a new order, or one that was used before. */
  function maker(
    market: Market,
    taker: { side: 0 | 1; outcome: 0 | 1; pips: number },
    feeRateBps: number,
  ): SignedOrder {
    const wanted = (side: 0 | 1): bigint | undefined =>
      market.tokens[side === taker.side ? 1 - taker.outcome : taker.outcome];
    const isMisfit = random.chance(0.02);
    const known = makers.filter(({ tokenId, side }) => tokenId === wanted(side) || isMisfit);
    if (known.length > 0 && random.chance(0.35)) return random.pick(known);
    const isAlike = random.chance(0.5);
    const side = (isAlike ? taker.side : 1 - taker.side) as 0 | 1;
    const outcome = (isAlike ? 1 - taker.outcome : taker.outcome) as 0 | 1;
    const limit = isAlike ? PIPS_ONE - taker.pips : taker.pips;
    // A BUY crosses when it pays as much or more, a SELL when it asks as much or less.
    const better = random.int(random.chance(0.05) ? -1 : 0, 2) * TICK_PIPS * (side === 0 ? 1 : -1);
    const pips = Math.min(Math.max(limit + better, TICK_PIPS), PIPS_ONE - TICK_PIPS);
    const made = order(
      random.pick(traders),
      market.tokens[outcome],
      side,
      pips,
      random.int(1, 4_000),
      feeRateBps,
    );
    // Else most matches would fail for the same few orders.
    if (!unsigned.has(made) && made.expiration === 0n && made.nonce < FAR) makers.push(made);
    if (makers.length > 12) makers.shift();
    return made;
  }

  function match(): ChainMatch {
    if (settled.length > 0 && random.chance(0.15)) return random.pick(settled);
    const market = random.pick(markets);
    const feeRateBps = random.pick([0, 0, 37, 200, 1_000]);
    const outcome = random.int(0, 1) as 0 | 1;
    const limit = { side: random.int(0, 1) as 0 | 1, outcome, pips: random.int(1, 19) * TICK_PIPS };
    const met = Array.from({ length: random.int(1, 4) }, () => maker(market, limit, feeRateBps));
    const lots = met.map((one) => {
      const whole = Number((one.side === 0 ? one.takerAmount : one.makerAmount) / SCALE.lotAmount);
      return random.int(1, random.chance(0.1) ? whole + 1 : Math.max(1, Math.floor(whole / 2)));
    });
    const total = lots.reduce((sum, own) => sum + own, 0);
    const size = total + (random.chance(0.5) ? random.int(1, 500) : 0);
    const token = market.tokens[outcome];
    const taker = order(random.pick(traders), token, limit.side, limit.pips, size, feeRateBps);
    const spoilt = random.chance(0.02) ? 1n : 0n;
    return {
      id: nextId++,
      taker,
      makers: met,
      takerFill: (taker.makerAmount * BigInt(total)) / BigInt(size) + (random.chance(0.02) ? 1n : 0n),
      makerFills: met.map((one, at) => {
        const amount = BigInt(lots[at] ?? 0) * SCALE.lotAmount;
        return (one.side === 0 ? (amount * one.makerAmount) / one.takerAmount : amount) + spoilt;
      }),
    };
  }

  /** All balances, allowances, approvals and nonces, read in one call of the reader. */
  async function read() {
    const all = [...traders.map(({ address }) => address), world.exchange, world.fees.address, world.ctf];
    const tokens = markets.flatMap((market) => market.tokens);
    const holdings = all.flatMap((_, at) => tokens.map((token) => [at, token] as const));
    const contracts = [world.exchange, world.collateral, world.ctf];
    const data = creationOf(WALLET_READER, [contracts, all, holdings]);
    const answer = await world.chain.ask<string>('eth_call', { data }, 'latest');
    const wallet = '(uint256 cash, uint256 allowance, bool isApproved, uint256 nonce, bytes32 code)';
    const [, , found, amounts] = AbiCoder.defaultAbiCoder().decode(
      ['uint256', 'bytes32', `${wallet}[]`, 'uint256[]'],
      answer,
    );
    return { all, tokens, found, amounts };
  }

  /** The chain and the model, by wallet and asset. */
  async function balances(): Promise<{ chain: Map<string, bigint>; model: Map<string, bigint> }> {
    const { all, tokens, found, amounts } = await read();
    const [chain, expected] = [new Map<string, bigint>(), new Map<string, bigint>()];
    for (const [at, address] of all.entries()) {
      chain.set(`${address} cash`, found[at].cash);
      expected.set(`${address} cash`, model.balance(address, COLLATERAL));
      for (const [n, token] of tokens.entries()) {
        chain.set(`${address} ${n}`, amounts[at * tokens.length + n]);
        expected.set(`${address} ${n}`, model.balance(address, token));
      }
    }
    return { chain, model: expected };
  }

  return {
    world,
    random,
    model,
    markets,
    traders,
    contract,
    makers,
    settled,
    match,
    balances,
    tokens: markets.flatMap(({ tokens }) => tokens),
    supply: BigInt(WALLETS) * (CASH + 2n * SETS),
  };
}
