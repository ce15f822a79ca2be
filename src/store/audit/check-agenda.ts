import { MARKET_STATUSES, type MarketId, type MarketStatus } from '../../exchange/market';
import { decodeMarket, decodePayouts } from '../records/market';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import type { Findings } from './report';

interface AgendaCheckOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly findings: Findings;
  readonly onStep: () => Promise<void>;
}

type Looked = [
  fields: (Buffer | null)[],
  bids: number,
  asks: number,
  document: Buffer | null,
  closes: string | null,
  ending: number,
];

/** Checks that the worker will close each market at its time, and wind up each market that has ended (lua/lib/agenda.lua). */
export async function checkAgenda(options: AgendaCheckOptions, ids: Iterable<MarketId>): Promise<void> {
  const { redis, keys, findings, onStep } = options;
  for (const marketId of ids) {
    const reply = await redis
      .multi()
      .hmgetBuffer(keys.market(marketId), 's', 'r')
      .zcard(keys.bids(marketId))
      .zcard(keys.asks(marketId))
      .hgetBuffer(keys.markets, marketId)
      .zscore(keys.closes, marketId)
      .sismember(keys.ending, marketId)
      .exec();
    check(marketId, (reply ?? []).map(([, value]) => value) as Looked, findings);
    await onStep();
  }
}

function check(
  marketId: MarketId,
  [[state, ended], bids, asks, document, closes, ending]: Looked,
  findings: Findings,
): void {
  const status = MARKET_STATUSES[state?.[0] ?? -1];
  // Another check reports unreadable records.
  const closesAtMs = document && closingTime(document);
  if (!status || closesAtMs === undefined) return;
  const isTraded = status === 'OPEN' || status === 'PAUSED';
  findings.compare(String((isTraded ? closesAtMs : null) ?? 'none'), closes ?? 'none', {
    kind: 'AGENDA',
    marketId,
    detail: `when a market that is ${status} is to be closed`,
  });
  const isUnpaid = ended !== null && ended !== undefined && decodePayouts(ended).paidAtMs === 0;
  if (ending === 0 && isOver(status) && (bids + asks > 0 || isUnpaid)) {
    const detail =
      'the market is over, has orders or holders left, and is not on the list of those to wind up';
    findings.add({ kind: 'AGENDA', marketId, expected: 'named', found: 'not named', detail });
  }
}

const isOver = (status: MarketStatus): boolean => !['DRAFT', 'OPEN', 'PAUSED'].includes(status);

function closingTime(document: Buffer): number | null | undefined {
  try {
    return decodeMarket(document).texts.closesAtMs ?? null;
  } catch {
    return undefined;
  }
}
