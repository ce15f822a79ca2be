import { useMemo } from 'preact/hooks';
import { isOpen, useAccount } from '../account-data';
import type { Lines } from '../chart-canvas';
import { lotsOf, PIPS_ONE, pipsOf, shares } from '../units';

/** The wallet's open orders and fills in a market, at prices of the chosen outcome. */
export function useOwnLines(marketId: string, index: 0 | 1): Lines {
  const { orders, trades } = useAccount();
  return useMemo(() => {
    const seen = (outcomeIndex: 0 | 1, price: string): number =>
      outcomeIndex === index ? pipsOf(price) : PIPS_ONE - pipsOf(price);
    const open = (orders ?? []).filter((order) => isOpen(order) && order.marketId === marketId);
    const fills = (trades ?? []).filter((trade) => trade.marketId === marketId);
    return {
      orders: open.map(({ orderHash, side, outcomeIndex, price, remainingSize }) => ({
        id: orderHash,
        pips: seen(outcomeIndex, price),
        isBid: (side === 'BUY') === (outcomeIndex === index),
        title: shares(lotsOf(remainingSize)),
      })),
      fills: fills.map(({ id, matchedAt, own }) => ({
        id,
        t: Math.floor(Date.parse(matchedAt) / 1_000),
        isBuy: (own.side === 'BUY') === (own.outcomeIndex === index),
      })),
    };
  }, [orders, trades, marketId, index]);
}
