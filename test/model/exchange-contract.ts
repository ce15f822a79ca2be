import type { SignedOrder } from '../../src/exchange/order';
import { Revert } from './contract';
import { feeOfFill } from './fee';

/**
 * contracts/MarketExchange.sol as arithmetic: `settle` with its faults, over balances, allowances and approvals. It knows
 * signatures, code and time only as the test tells it. Assets are 0 for collateral, else a token.
 */
const COLLATERAL = 0n;
const FEE_RATE_MAX = 1_000n;
const NONCE_AHEAD_MAX = 1_000_000n;
export const UNLIMITED = 2n ** 256n - 1n;

export interface ModelMatch {
  readonly id: bigint;
  readonly taker: SignedOrder;
  readonly makers: readonly SignedOrder[];
  readonly takerFill: bigint;
  readonly makerFills: readonly bigint[];
}

/** The state of a wallet besides its balances. */
export interface ModelWallet {
  allowance: bigint;
  isApproved: boolean;
  /** Its code takes no tokens. */
  isTrap: boolean;
  /** False when the wallet is a contract that rejects its signatures now. */
  isSigning: boolean;
  nonce: bigint;
  raised: { readonly to: bigint; readonly at: number } | null;
}

export interface ModelOptions {
  readonly exchange: string;
  readonly framework: string;
  readonly fees: string;
  /** The other token of each token's market. */
  readonly complements: ReadonlyMap<bigint, bigint>;
  readonly hashOf: (order: SignedOrder) => string;
  /** True when the signature of an order of type 0 is its maker's. */
  readonly isSigned: (order: SignedOrder) => boolean;
}

const fault = (wallet: string, why: string): Revert => new Revert(`${why} of ${wallet}`);
const keyOf = (who: string, asset: bigint): string => `${who}/${asset}`;

export function createExchangeModel(options: ModelOptions) {
  const { exchange, framework, fees, complements, hashOf } = options;
  const wallets = new Map<string, ModelWallet>();
  const cancelled = new Map<string, number>();
  const settled = new Set<bigint>();
  const paidOut = new Set<bigint>();
  let balances = new Map<string, bigint>();
  let owed = new Map<string, bigint>();
  let remaining = new Map<string, bigint>();
  let allowances = new Map<string, bigint>();

  const balance = (who: string, asset: bigint): bigint => balances.get(keyOf(who, asset)) ?? 0n;
  const add = (who: string, asset: bigint, amount: bigint): void => {
    balances.set(keyOf(who, asset), balance(who, asset) + amount);
  };
  const walletOf = (address: string): ModelWallet => {
    const found = wallets.get(address);
    if (!found) throw new Error(`the model does not know ${address}`);
    return found;
  };

  /** Takes an asset from a wallet, or blames it. */
  function pay(from: string, asset: bigint, amount: bigint): void {
    if (from !== exchange) {
      const wallet = walletOf(from);
      const allowance = allowances.get(from) ?? wallet.allowance;
      if (balance(from, asset) < amount) {
        throw fault(from, asset === COLLATERAL ? 'NotEnoughCollateral' : 'NotEnoughTokens');
      }
      if (asset === COLLATERAL && allowance < amount) throw fault(from, 'NotEnoughAllowance');
      if (asset !== COLLATERAL && !wallet.isApproved) throw fault(from, 'NotApproved');
      if (asset === COLLATERAL && allowance !== UNLIMITED) allowances.set(from, allowance - amount);
    }
    add(from, asset, -amount);
  }

  function move(from: string, to: string, asset: bigint, amount: bigint): void {
    if (amount === 0n) return;
    pay(from, asset, amount);
    const isKept = asset !== COLLATERAL && wallets.get(to)?.isTrap === true;
    add(isKept ? exchange : to, asset, amount);
    if (isKept) owed.set(keyOf(to, asset), (owed.get(keyOf(to, asset)) ?? 0n) + amount);
  }

  function nonceOf({ nonce, raised }: ModelWallet, now: number): bigint {
    return raised && now >= raised.at ? raised.to : nonce;
  }

  /** The checks of an order by itself, in the order of the contract, and the fill. */
  function spend(order: SignedOrder, making: bigint, now: number): void {
    const hash = hashOf(order);
    const wallet = walletOf(order.maker);
    if (order.feeRateBps > FEE_RATE_MAX) throw new Revert('FeeTooHigh');
    if (order.expiration !== 0n && BigInt(now) >= order.expiration) throw new Revert('OrderExpired');
    if (order.nonce < nonceOf(wallet, now)) throw fault(order.maker, 'InvalidNonce');
    if (order.nonce > (wallet.raised?.to ?? wallet.nonce) + NONCE_AHEAD_MAX) throw new Revert('NonceTooHigh');
    if (now >= (cancelled.get(hash) ?? Number.POSITIVE_INFINITY))
      throw fault(order.maker, 'OrderFilledOrCancelled');
    const left = remaining.get(hash);
    if (left === undefined || (left > 0n && order.signatureType === 3)) {
      if (order.signatureType === 3 && !wallet.isSigning) throw fault(order.maker, 'InvalidSignature');
      if (order.signatureType === 0 && !options.isSigned(order)) throw new Revert('InvalidSignature');
    }
    if (left === 0n) throw new Revert('OrderFilledOrCancelled');
    if (making === 0n) throw new Revert('InvalidAmount');
    if (making > (left ?? order.makerAmount)) throw new Revert('MakingGtRemaining');
    remaining.set(hash, (left ?? order.makerAmount) - making);
  }

  /** Collateral for each token, as a fraction. */
  function isCrossing(a: SignedOrder, b: SignedOrder): boolean {
    const [an, ad] = a.side === 0 ? [a.makerAmount, a.takerAmount] : [a.takerAmount, a.makerAmount];
    const [bn, bd] = b.side === 0 ? [b.makerAmount, b.takerAmount] : [b.takerAmount, b.makerAmount];
    if (a.side !== b.side) return a.side === 0 ? an * bd >= bn * ad : an * bd <= bn * ad;
    const sum = an * bd + bn * ad;
    return a.side === 0 ? sum >= ad * bd : sum <= ad * bd;
  }

  function apply({ taker, makers, takerFill, makerFills }: ModelMatch, now: number): void {
    if (paidOut.has(taker.tokenId)) throw new Revert('ConditionResolved');
    spend(taker, takerFill, now);
    const isBuy = taker.side === 0;
    const other = complements.get(taker.tokenId) ?? 0n;
    let [paid, got] = [0n, 0n];
    const legs = makers.map((maker, at) => {
      const making = makerFills[at] ?? 0n;
      const isAlike = maker.side === taker.side;
      if (maker.tokenId !== (isAlike ? other : taker.tokenId)) throw new Revert('MismatchedTokenIds');
      spend(maker, making, now);
      if (!isCrossing(taker, maker)) throw new Revert('NotCrossing');
      if ((making * maker.takerAmount) % maker.makerAmount !== 0n) throw new Revert('NotWhole');
      const taking = (making * maker.takerAmount) / maker.makerAmount;
      const tokens = maker.side === 0 ? taking : making;
      const cash = maker.side === 0 ? making : taking;
      // With makers on its own side the taker pays or gets the rest of each full set.
      const takersCash = isAlike ? tokens - cash : cash;
      paid += isBuy ? takersCash : tokens;
      got += isBuy ? tokens : takersCash;
      const fee = feeOfFill(maker.feeRateBps, maker.side, cash, tokens);
      const takerFee = feeOfFill(taker.feeRateBps, taker.side, takersCash, tokens);
      return { maker, isAlike, making, taking, tokens, takersCash, fee, takerFee };
    });
    if (paid > takerFill) throw new Revert('NotCrossing');
    if (!isBuy && paid !== takerFill) throw new Revert('FillNotSold');
    if (got * taker.makerAmount < takerFill * taker.takerAmount) throw new Revert('TooLittleTokensReceived');
    const gives = isBuy ? COLLATERAL : taker.tokenId;
    const takes = isBuy ? taker.tokenId : COLLATERAL;

    let makerFees = 0n;
    for (const { maker, isAlike, making, taking, fee, takerFee } of legs) {
      if (isAlike) continue;
      makerFees += fee;
      move(taker.maker, maker.maker, gives, taking - fee);
      move(maker.maker, fees, takes, takerFee);
      move(maker.maker, taker.maker, takes, making - takerFee);
    }
    move(taker.maker, fees, gives, makerFees);
    const alike = legs.filter(({ isAlike }) => isAlike);
    if (alike.length === 0) return;
    for (const { maker, making } of alike) move(maker.maker, exchange, isBuy ? COLLATERAL : other, making);
    const sets = alike.reduce((sum, { tokens }) => sum + tokens, 0n);
    const cash = alike.reduce((sum, { takersCash }) => sum + takersCash, 0n);
    const alikeFees = alike.reduce((sum, { takerFee }) => sum + takerFee, 0n);
    move(taker.maker, exchange, gives, isBuy ? cash : sets);
    convert(taker.tokenId, other, isBuy ? sets : -sets);
    move(exchange, fees, takes, alikeFees);
    move(exchange, taker.maker, takes, (isBuy ? sets : cash) - alikeFees);
    for (const { maker, taking, fee } of alike) {
      move(exchange, maker.maker, isBuy ? other : COLLATERAL, taking - fee);
      move(exchange, fees, isBuy ? other : COLLATERAL, fee);
    }
  }

  /** Splits (positive) or merges sets of the contract, whose collateral the framework keeps. */
  function convert(token: bigint, other: bigint, sets: bigint): void {
    add(exchange, COLLATERAL, -sets);
    add(framework, COLLATERAL, sets);
    add(exchange, token, sets);
    add(exchange, other, sets);
  }

  function settleOne(match: ModelMatch, now: number): string {
    if (settled.has(match.id)) return 'done';
    const before = [balances, owed, remaining, allowances].map((map) => new Map<string, bigint>(map));
    try {
      apply(match, now);
      settled.add(match.id);
      for (const [address, allowance] of allowances) walletOf(address).allowance = allowance;
      allowances = new Map();
      return 'settled';
    } catch (error) {
      if (!(error instanceof Revert)) throw error;
      [balances, owed, remaining, allowances] = before as [
        typeof balances,
        typeof owed,
        typeof remaining,
        typeof allowances,
      ];
      return error.message;
    }
  }

  return {
    wallets,
    cancelled,
    /** The tokens of conditions that are paid out. */
    paidOut,
    balance,
    add,
    nonceOf: (address: string, now: number): bigint => nonceOf(walletOf(address), now),
    owed: (address: string, asset: bigint): bigint => owed.get(keyOf(address, asset)) ?? 0n,
    remaining: (order: SignedOrder): bigint => remaining.get(hashOf(order)) ?? 0n,
    /** Pays what is owed; returns the amount. */
    claim(address: string, asset: bigint, to: string): bigint {
      const amount = owed.get(keyOf(address, asset)) ?? 0n;
      owed.delete(keyOf(address, asset));
      add(exchange, asset, -amount);
      add(to, asset, amount);
      return amount;
    },
    /** The outcome of each match of a batch in a block of this time (seconds). */
    settle: (matches: readonly ModelMatch[], now: number): string[] =>
      matches.map((match) => settleOne(match, now)),
  };
}
