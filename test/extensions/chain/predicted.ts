import { matchTypeOf, type Side } from '../../../src/exchange/match';
import { type ChainScale, chainScale, type SignedOrder } from '../../../src/exchange/order';
import { type Settlement, settlementsOf } from '../../../src/exchange/settlement';
import { lots, pips } from '../../../src/exchange/units';
import { type ChainMatch, COLLATERAL, type Market, type Trader, type World } from './world';

/** A match in the units of the exchange, and what its settlement record says of every balance on the chain. */

export interface Limit {
  readonly trader: Trader;
  readonly side: Side;
  readonly outcome: 0 | 1;
  readonly pips: number;
  readonly lots: number;
}
export interface Fill {
  readonly maker: Limit;
  readonly lots: number;
}
export interface Planned {
  readonly taker: Limit;
  /** The budget of a MARKET BUY, in micro-units. */
  readonly budgetMicro?: number;
  readonly fills: readonly Fill[];
  readonly feeRateBps: number;
}

/** Changes of balances by wallet and asset, `address/asset`. */
export type Changes = Map<string, bigint>;
export const keyOf = (address: string, asset: bigint): string => `${address}/${asset}`;
export const addChange = (to: Changes, address: string, asset: bigint, amount: bigint): void => {
  to.set(keyOf(address, asset), (to.get(keyOf(address, asset)) ?? 0n) + amount);
};

export const SCALE: ChainScale = chainScale(18);
const PIPS_ONE = 10_000;

export type Sign = (trader: Trader, terms: Partial<SignedOrder>) => SignedOrder | Promise<SignedOrder>;

/** The amounts that a limit signs: of exact size, or a budget and its worst price. */
function termsOf({ side, outcome, pips: price, lots: size }: Limit, market: Market, budgetMicro?: number) {
  const tokens = BigInt(size) * SCALE.lotAmount;
  const cash = budgetMicro === undefined ? BigInt(size) * BigInt(price) : BigInt(budgetMicro);
  const amounts = [cash * SCALE.microAmount, tokens] as const;
  const [makerAmount, takerAmount] = side === 0 ? amounts : [amounts[1], amounts[0]];
  return { tokenId: market.tokens[outcome], side, makerAmount, takerAmount };
}

/** Signs the orders of a match and returns it as the contract takes it, with the changes that its record predicts. */
export async function plan(
  world: Pick<World, 'fees' | 'sign'>,
  market: Market,
  planned: Planned,
  id: bigint,
  sign: Sign = world.sign,
): Promise<{ match: ChainMatch; changes: Changes; record: Settlement }> {
  const { feeRateBps, fills, budgetMicro } = planned;
  const signed = (limit: Limit, budget?: number) =>
    sign(limit.trader, { ...termsOf(limit, market, budget), feeRateBps: BigInt(feeRateBps) });
  const taker = await signed(planned.taker, budgetMicro);
  const makers: SignedOrder[] = [];
  for (const { maker } of fills) makers.push(await signed(maker));
  const priceOf = ({ outcome, pips: own }: Limit): number =>
    outcome === planned.taker.outcome ? own : PIPS_ONE - own;
  const record = settlementsOf(
    {
      taker: { orderHash: 'taker', side: planned.taker.side, pricePips: pips(planned.taker.pips) },
      isBudget: budgetMicro !== undefined,
      feeRateBps,
      fills: fills.map(({ maker, lots: size }, at) => ({
        maker: { orderHash: String(at), side: maker.side, pricePips: pips(maker.pips) },
        pricePips: pips(priceOf(maker)),
        sizeLots: lots(size),
        matchType: matchTypeOf(planned.taker.side, maker.side),
      })),
    },
    SCALE,
  )[0] as Settlement;
  const match = {
    id,
    taker,
    makers,
    takerFill: record.takerFillAmount,
    makerFills: record.makerFillAmounts,
  };
  return { match, record, changes: changesOf(world, market, planned, record) };
}

function changesOf(
  world: Pick<World, 'fees'>,
  market: Market,
  { taker, fills }: Planned,
  record: Settlement,
): Changes {
  const changes: Changes = new Map();
  const move = (limit: Limit, gives: bigint, gets: bigint, fee: bigint): void => {
    const token = market.tokens[limit.outcome];
    const [from, to] = limit.side === 0 ? [COLLATERAL, token] : [token, COLLATERAL];
    addChange(changes, limit.trader.address, from, -gives);
    addChange(changes, limit.trader.address, to, gets - fee);
    addChange(changes, world.fees.address, to, fee);
  };
  let [tokens, cash] = [0n, 0n];
  for (const [at, { maker, lots: size }] of fills.entries()) {
    const price = maker.outcome === taker.outcome ? maker.pips : PIPS_ONE - maker.pips;
    tokens += BigInt(size) * SCALE.lotAmount;
    cash += BigInt(size * price) * SCALE.microAmount;
    const own = [BigInt(size * maker.pips) * SCALE.microAmount, BigInt(size) * SCALE.lotAmount] as const;
    const [gives, gets] = maker.side === 0 ? own : [own[1], own[0]];
    expect(record.makerFillAmounts[at]).toBe(gives);
    move(maker, gives, gets, record.makerFeeAmounts[at] ?? 0n);
  }
  if (taker.side === 0) {
    expect(record.takerFillAmount - record.refundAmount).toBe(cash);
    move(taker, cash, tokens, record.takerFeeAmount);
  } else move(taker, tokens, cash, record.takerFeeAmount);
  return changes;
}

/** The balances of these wallets and assets, in the keys of `Changes`. */
export async function balancesOf(
  world: World,
  wallets: readonly string[],
  assets: readonly bigint[],
): Promise<Changes> {
  const keys = wallets.flatMap((wallet) => assets.map((asset) => [wallet, asset] as const));
  const found = await Promise.all(keys.map(([wallet, asset]) => world.balance(wallet, asset)));
  return new Map(keys.map(([wallet, asset], at) => [keyOf(wallet, asset), found[at] ?? 0n]));
}
