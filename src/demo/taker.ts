import type { NewOrder } from 'ctf-exchange-client';
import { type Desk, PIPS, priceText, touchOf } from './desk';
import { chance, pick, type Random, spread } from './random';
import type { BotWallet } from './wallet';

/** Relative to a usual quote. */
const SIZE = 0.4;
const LARGE = 5;
const LARGE_CHANCE = 0.04;
/** Half spreads beyond the best price that the taker still pays. */
const SLIPPAGE = 1;
const SLIPPAGE_LARGE = 4;
/** The distance of the middle, in half spreads, at which almost every taker trades against it. */
const CONVICTION = 3;
/** The share of trades that sell held tokens instead of buying the other outcome. */
const SELLING = 0.8;
/** The largest part of the available money that one trade may use. */
const CASH_PART = 0.1;
const ORDER_TYPES = ['MARKET', 'IOC', 'IOC', 'FOK'] as const;

/** Takes from the book of one of the markets, more often towards the bots' opinion than away from it. */
export async function take(desks: readonly Desk[], wallet: BotWallet, random: Random): Promise<void> {
  const desk = pick(random, desks);
  if (desk?.live.state !== 'live') return;
  const { bid, ask } = touchOf(desk.live.book);
  if (bid === null || ask === null) return;
  const off = (desk.opinion.pips() - (bid + ask) / 2) / (CONVICTION * desk.character.halfSpreadPips);
  const isUp = chance(random, 0.5 + 0.45 * Math.max(-1, Math.min(1, off)));
  const order = orderFor(desk, wallet, { isUp, touch: isUp ? ask : bid }, random);
  if (order) await wallet.client.placeOrder(wallet.signer, desk.trading, order);
}

/** `isUp` takes asks: it buys Yes or sells No. Null when the wallet cannot afford a share. */
function orderFor(
  { market, character, size, tickPips }: Desk,
  wallet: BotWallet,
  { isUp, touch }: { readonly isUp: boolean; readonly touch: number },
  random: Random,
): NewOrder | null {
  const isLarge = chance(random, LARGE_CHANCE);
  const wanted = Math.round(spread(random, size * (isLarge ? LARGE : SIZE)));
  const sold = isUp ? 1 : 0;
  const owned = Math.floor(wallet.free(market.id, sold));
  const sells = owned >= Number(market.minOrderSize) && chance(random, SELLING);
  const outcomeIndex = sells ? sold : isUp ? 0 : 1;
  const slip = (isLarge ? SLIPPAGE_LARGE : SLIPPAGE) * Math.max(tickPips, character.halfSpreadPips);
  const limit = Math.round((touch + (isUp ? slip : -slip)) / tickPips) * tickPips;
  const yesPips = Math.min(PIPS - tickPips, Math.max(tickPips, limit));
  const pricePips = outcomeIndex === 0 ? yesPips : PIPS - yesPips;
  const affordable = sells ? owned : Math.floor((wallet.cash() * CASH_PART * PIPS) / pricePips);
  const shares = Math.min(Math.max(wanted, Number(market.minOrderSize)), affordable);
  if (shares < Number(market.minOrderSize)) return null;
  return {
    outcomeIndex,
    side: sells ? 'SELL' : 'BUY',
    orderType: isLarge ? 'IOC' : (pick(random, ORDER_TYPES) ?? 'IOC'),
    price: priceText(pricePips),
    size: String(shares),
  };
}

/** Converts full sets that trading produced back into money. */
export async function tidyUp(desks: readonly Desk[], wallet: BotWallet): Promise<void> {
  for (const { market } of desks) {
    const sets = Math.floor(Math.min(wallet.free(market.id, 0), wallet.free(market.id, 1)));
    if (sets >= 1) await wallet.merge(market.id, String(sets));
  }
  await wallet.refill();
}
