import type { MarketState } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import { decodeEvent } from '../outbox/outbox';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import type { Findings } from './report';
import type { Snapshot } from './snapshot';
import type { EventLoopYield } from './yield-to-event-loop';

interface OutboxCheckOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly findings: Findings;
  readonly states: ReadonlyMap<MarketId, MarketState>;
  /** The last entry that the snapshot contains. */
  readonly position: string;
}

const STEP = 500;
/** The number of latest entries to check: a minute of a busy exchange. */
const ENTRIES_MAX = 200_000;
/** Entries of these kinds carry the number of another command: the latest of the market, or that of a match. */
const WITHOUT_NUMBER: readonly string[] = ['BALANCE', 'SETTLE'];

/** Checks that each market's numbers in the outbox have no gap and end at the market's own number. */
export async function checkOutbox(options: OutboxCheckOptions): Promise<void> {
  const { redis, keys, findings, states } = options;
  const expected = new Map([...states].map(([id, { sequence }]) => [id, sequence]));
  let from = options.position;
  // Backwards, so that entries trimmed meanwhile would have come last.
  for (let seen = 0; seen < ENTRIES_MAX; seen += STEP) {
    const entries = await redis.xrevrangeBuffer(keys.outbox, from, '-', 'COUNT', STEP);
    for (const [, fields] of entries) {
      const { kind, marketId, sequence } = decodeEvent(fields[1] as Buffer);
      const next = expected.get(marketId);
      if (next === undefined || WITHOUT_NUMBER.includes(kind)) continue;
      if (sequence !== next) {
        findings.add({
          kind: 'SEQUENCE',
          marketId,
          sequence,
          expected: String(next),
          found: String(sequence),
          detail: 'number of a command in the outbox, counted back from that of the market',
        });
      }
      expected.set(marketId, sequence - 1);
    }
    if (entries.length < STEP) return;
    from = `(${entries.at(-1)?.[0].toString()}`;
  }
}

/** Checks that each order has its own number in its market, and that no number is above the market's. */
export async function checkNumbers(
  snapshot: Snapshot,
  states: ReadonlyMap<MarketId, MarketState>,
  findings: Findings,
  yieldToEventLoop: EventLoopYield,
): Promise<void> {
  const taken = new Map<MarketId, Set<number>>();
  for (const { orderHash, marketId, sequence } of snapshot.orders.values()) {
    const numbers = taken.get(marketId) ?? new Set<number>();
    taken.set(marketId, numbers);
    const at = { kind: 'SEQUENCE', marketId, orderHash, sequence } as const;
    if (numbers.has(sequence)) findings.add({ ...at, detail: 'two orders of the market have this number' });
    numbers.add(sequence);
    const state = states.get(marketId);
    if (state && sequence > state.sequence) {
      const found = String(state.sequence);
      findings.add({ ...at, found, detail: "the market's number is behind that of an order" });
    }
    await yieldToEventLoop();
  }
}
