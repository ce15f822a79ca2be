import type { MarketId } from '../../exchange/market';
import { createDoubtful } from '../../store/health/doubtful';
import type { DurabilityChecks } from '../../store/health/durability';
import type { BroadcastReads } from '../../store/outbox/update-log';
import type { Reads } from '../../store/reads/reads';
import { presentOrderbook } from '../../wire/answers/book';
import { EVENTS } from '../../wire/answers/events';
import { eventText } from '../sockets/sockets';

export type Snapshot = ReturnType<typeof presentOrderbook>;

export interface Snapshots {
  /** Returns the book, not older than this call. It is built once for each market and sequence, for all callers. */
  fresh(id: MarketId): Promise<Snapshot>;
  /** The same as an event, serialised once for any number of sockets. */
  textOf(snapshot: Snapshot): string;
  /** Drops all built snapshots, because after a restart of Redis a sequence may belong to another book. */
  clear(): void;
}

const BOOKS_MAX = 1_000;

export function createSnapshots({
  broadcasts,
  reads,
  doubts,
}: {
  broadcasts: Pick<BroadcastReads, 'sequence'>;
  reads: Pick<Reads, 'view'>;
  doubts: DurabilityChecks['doubts'];
}): Snapshots {
  // After a failover a sequence may belong to another book.
  const built = createDoubtful<MarketId, Snapshot>(doubts, BOOKS_MAX);
  const texts = new WeakMap<Snapshot, string>();
  const underway = new Map<MarketId, Promise<Snapshot>>();
  const next = new Map<MarketId, Promise<Snapshot>>();

  async function build(id: MarketId): Promise<Snapshot> {
    const known = built.get(id);
    if (known && known.sequence === (await broadcasts.sequence(id))) return known;
    const at = doubts();
    const snapshot = presentOrderbook(await reads.view(id));
    const newest = built.get(id);
    if (newest?.sequence === snapshot.sequence) return newest;
    built.keep(id, snapshot, at);
    return snapshot;
  }

  function begin(id: MarketId): Promise<Snapshot> {
    const run = build(id).finally(() => underway.delete(id));
    underway.set(id, run);
    return run;
  }

  return {
    fresh: (id) => {
      const running = underway.get(id);
      if (!running) return begin(id);
      // The read may have begun before this call, so callers that come meanwhile share the next one.
      const queued = next.get(id);
      if (queued) return queued;
      const following = running
        .catch(() => undefined)
        .then(() => {
          next.delete(id);
          return begin(id);
        });
      next.set(id, following);
      return following;
    },
    textOf: (snapshot) => {
      const text = texts.get(snapshot) ?? eventText(EVENTS.snapshot, snapshot);
      texts.set(snapshot, text);
      return text;
    },
    clear: () => built.clear(),
  };
}
