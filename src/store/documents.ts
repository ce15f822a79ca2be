import { MARKET_STATUSES } from '../exchange/market';
import { MODES } from '../exchange/status';
import { lots, micro, pips } from '../exchange/units';
import { readUInt } from './records';
import type { Level, Market, MarketState } from './views';

/** A market's terms and texts are one JSON document, written once per edit; its moving part is the hash beside it. */
export const encodeMarket = (market: Market): string => JSON.stringify(market);
export const decodeMarket = (document: Buffer): Market => JSON.parse(document.toString('utf8')) as Market;

const BID = 0x62;
const ASK = 0x61;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

/** The reply to HGETALL of a market's hash: counters as text, and the levels `b<pips>` / `a<pips>` (lua/lib/book.lua). */
export function decodeState(reply: readonly Buffer[]): MarketState {
  const fields = new Map<string, number>();
  const bids: Level[] = [];
  const asks: Level[] = [];
  for (let i = 0; i + 1 < reply.length; i += 2) {
    const name = reply[i] as Buffer;
    const value = reply[i + 1] as Buffer;
    const isLevel = (name[1] ?? 0) >= DIGIT_0 && (name[1] ?? 0) <= DIGIT_9;
    if (isLevel && name[0] === BID) bids.push(level(name, value));
    else if (isLevel && name[0] === ASK) asks.push(level(name, value));
    else fields.set(name.toString('latin1'), Number(value));
  }
  const field = (name: string): number => fields.get(name) ?? 0;
  const status = MARKET_STATUSES[field('st')];
  const mode = MODES[field('md')];
  if (!status || !mode) throw new Error('a stored market has an unknown status or mode');
  const last = fields.get('lp');
  return {
    status,
    mode,
    sequence: field('q'),
    lastPips: last === undefined ? null : pips(last),
    volumeMicro: micro(field('vol')),
    openInterestMicro: micro(field('oi')),
    liquidityMicro: micro(field('liq')),
    bids: bids.sort((x, y) => y.pricePips - x.pricePips),
    asks: asks.sort((x, y) => x.pricePips - y.pricePips),
  };
}

function level(name: Buffer, value: Buffer): Level {
  return {
    pricePips: pips(Number(name.toString('latin1', 1))),
    sizeLots: lots(readUInt(value, 0, 7)),
    orders: value.readUInt32BE(7),
  };
}
