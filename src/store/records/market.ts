import type { Level, Market, MarketState } from '../../exchange/facts';
import { type Ending, MARKET_STATUSES, type OutcomeIndex } from '../../exchange/market';
import { MODES } from '../../exchange/status';
import { lots, micro, pips } from '../../exchange/units';
import { RESOLUTION as ENDING, LEVEL, MARKET_STATE, PAYOUT_DELAY } from './layout';

/** One JSON document contains a market's terms and texts and is written once per edit; its changing part is a separate hash. */
export const encodeMarket = (market: Market): string => JSON.stringify(market);
export const decodeMarket = (document: Buffer): Market => JSON.parse(document.toString('utf8')) as Market;

const BID = 0x62;
const ASK = 0x61;
const STATE = 0x73;
const RESOLUTION = 0x72;
const EVIDENCE = 0x65;
const DELAY = 0x64;
/** The result of a market without a winner, where 0 and 1 are outcomes (lua/lib/resolution.lua). */
export const VOID = 2;

/**
 * The reply to HGETALL of a market's hash: `s` the packed state, `b<pips>` and `a<pips>` the levels (lua/lib/book.lua), `r`
 * the result, `e` the evidence and `d` the delay of the payout (lua/lib/resolution.lua).
 */
export function decodeState(reply: readonly Buffer[]): MarketState {
  const bids: Level[] = [];
  const asks: Level[] = [];
  let state: Buffer | null = null;
  let resolution: Ending | null = null;
  let evidence: string | null = null;
  let payoutAtMs: number | null = null;
  for (let i = 0; i + 1 < reply.length; i += 2) {
    const name = reply[i] as Buffer;
    const value = reply[i + 1] as Buffer;
    if (name[0] === BID) bids.push(level(name, value));
    else if (name[0] === ASK) asks.push(level(name, value));
    else if (name[0] === STATE) state = value;
    else if (name[0] === RESOLUTION) resolution = decodeResolution(value);
    else if (name[0] === EVIDENCE) evidence = value.toString('utf8');
    else if (name[0] === DELAY) payoutAtMs = PAYOUT_DELAY.get.payoutAtMs(value);
  }
  if (!state) throw new Error('a stored market has no state');
  const { get } = MARKET_STATE;
  const status = MARKET_STATUSES[get.status(state)];
  const mode = MODES[get.mode(state)];
  const lastPips = get.lastPips(state);
  if (!status || !mode) throw new Error('a stored market has an unknown status or mode');
  return {
    status,
    mode,
    sequence: get.sequence(state),
    liquidityMicro: micro(get.liquidityMicro(state)),
    lastTradeMs: get.lastTradeMs(state),
    volumeMicro: micro(get.volumeMicro(state)),
    openInterestMicro: micro(get.openInterestMicro(state)),
    resolution: resolution && { ...resolution, evidence, payoutAtMs: payoutAtMs ?? resolution.resolvedAtMs },
    lastPips: lastPips === 0 ? null : pips(lastPips),
    bids: bids.sort((x, y) => y.pricePips - x.pricePips),
    asks: asks.sort((x, y) => x.pricePips - y.pricePips),
  };
}

/** The progress of the payouts of a market that has ended: field `r` of its hash. */
export interface PayoutState {
  readonly outcome: OutcomeIndex | null;
  /** 0 until every holder is paid. */
  readonly paidAtMs: number;
  /** Sets outstanding when the market ended. */
  readonly setsMicro: number;
  readonly paidMicro: number;
}

export function decodePayouts(value: Buffer): PayoutState {
  const { outcome, paidAtMs, setsMicro, paidMicro } = ENDING.read(value);
  return { outcome: winnerOf(outcome), paidAtMs, setsMicro, paidMicro };
}

/** Field `r` of a market's hash. */
export function decodeResolution(value: Buffer): Ending {
  const { outcome, resolvedAtMs } = ENDING.read(value);
  return { outcome: winnerOf(outcome), resolvedAtMs };
}

const winnerOf = (code: number): OutcomeIndex | null => (code === 0 || code === 1 ? code : null);

function level(name: Buffer, value: Buffer): Level {
  return {
    pricePips: pips(Number(name.toString('latin1', 1))),
    sizeLots: lots(LEVEL.get.sizeLots(value)),
    orders: LEVEL.get.orders(value),
  };
}
