import type { MarketState } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import { formatLots, formatMicro, formatPips } from '../../exchange/units';
import { decodeState } from '../records/market';
import type { Expected } from './check-orders';
import type { Findings } from './report';
import type { Snapshot } from './snapshot';

/** Returns the state of every market whose state can be read. */
export function readStates(snapshot: Snapshot, findings: Findings): Map<MarketId, MarketState> {
  const states = new Map<MarketId, MarketState>();
  for (const [marketId, fields] of snapshot.markets) {
    try {
      states.set(marketId, decodeState([...fields].flatMap(([name, value]) => [Buffer.from(name), value])));
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      findings.add({ kind: 'MARKET_STATE', marketId, detail });
    }
  }
  return states;
}

/** Compares the levels, value and order of each book with the open orders. */
export function checkBooks(
  states: ReadonlyMap<MarketId, MarketState>,
  expected: Expected,
  findings: Findings,
): void {
  for (const [marketId, state] of states) {
    checkLevels(marketId, state, expected, findings);
    const liquidity = expected.liquidityMicro.get(marketId) ?? 0;
    findings.compare(formatMicro(liquidity), formatMicro(state.liquidityMicro), {
      kind: 'LIQUIDITY',
      marketId,
      detail: 'value of the open orders at their own prices',
    });
    checkSpread(marketId, expected, findings);
  }
}

function checkLevels(marketId: MarketId, state: MarketState, expected: Expected, findings: Findings): void {
  const wanted = expected.levels.get(marketId);
  const stored = new Map<string, string>();
  for (const [side, levels] of [['b', state.bids] as const, ['a', state.asks] as const]) {
    for (const { pricePips, sizeLots, orders } of levels) {
      stored.set(`${side}${pricePips}`, levelText(sizeLots, orders));
    }
  }
  for (const name of new Set([...stored.keys(), ...(wanted?.keys() ?? [])])) {
    const level = wanted?.get(name);
    findings.compare(level ? levelText(level.sizeLots, level.orders) : 'none', stored.get(name) ?? 'none', {
      kind: 'LEVEL',
      marketId,
      side: name.startsWith('b') ? 'BID' : 'ASK',
      price: formatPips(Number(name.slice(1))),
      detail: 'size and number of the open orders at a price of the Yes book',
    });
  }
}

const levelText = (sizeLots: number, orders: number): string => `${formatLots(sizeLots)} in ${orders}`;

function checkSpread(marketId: MarketId, expected: Expected, findings: Findings): void {
  let [bid, ask] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const name of expected.levels.get(marketId)?.keys() ?? []) {
    const price = Number(name.slice(1));
    if (name.startsWith('b')) bid = Math.max(bid, price);
    else ask = Math.min(ask, price);
  }
  if (bid < ask) return;
  findings.add({
    kind: 'CROSSED_BOOK',
    marketId,
    found: `${formatPips(bid)} bid, ${formatPips(ask)} asked`,
    detail: 'open orders that should have met',
  });
}
