import type { OrderRecords } from '../store/lists/orders';
import type { AccountLogWriter } from '../store/outbox/account-log';
import type { Broadcasts } from '../store/outbox/update-log';
import type { Partition } from '../store/partition';
import type { Presence } from '../store/people/presence';
import type { Keys } from '../store/redis/keys';
import type { Engine } from '../store/verbs/engine';
import { type BroadcastingDeps, createBroadcasting } from './broadcast/broadcasting';
import type { Leadership } from './broadcast/leadership';
import { createSharing } from './broadcast/sharing';
import type { OutboxReaders } from './sockets/links';

/** One outbox of the exchange, and what its lease allows: one for each partition. */
export interface Outbox {
  readonly keys: Keys;
  readonly broadcasts: Broadcasts;
  /** The orders that its entries name. */
  readonly records: OrderRecords;
  readonly logs: AccountLogWriter;
  readonly presence: Presence;
  /** Called with the latest entry that was read. */
  readonly saw: (entryId: string) => void;
  readonly engine: Pick<Engine, 'cancelAbsent'>;
}

export interface LedOutbox extends Outbox {
  readonly held: Leadership['held'];
  /** Reader of the process that writes the wallets' logs. */
  readonly reader: OutboxReaders['accounts'];
}

export interface OutboxesDeps extends Omit<BroadcastingDeps, 'broadcasts' | 'reader'> {
  readonly outboxes: readonly Outbox[];
  readonly readersOf: (keys: Keys) => OutboxReaders;
  readonly replicas: () => Promise<number>;
}

export interface LedOutboxes {
  readonly outboxes: readonly LedOutbox[];
  tryNow(): void;
  /** The number of outboxes that this process broadcasts. */
  held(): number;
  start(): void;
  stop(): Promise<void>;
}

/** The outboxes of an exchange: each is broadcast by one web process, and several are spread over the processes. */
export function leadOutboxes({ outboxes, readersOf, replicas, ...deps }: OutboxesDeps): LedOutboxes {
  const onError = (error: Error): void => deps.log.debug({ err: error.message }, 'leases stay as they are');
  const sharing = outboxes.length > 1 ? createSharing({ replicas, onError }) : null;
  const led = outboxes.map((outbox) => {
    const { broadcast, accounts } = readersOf(outbox.keys);
    const leadership = createBroadcasting({
      ...deps,
      ...(sharing && { patienceMs: sharing.patienceMs }),
      broadcasts: outbox.broadcasts,
      reader: {
        ...broadcast,
        async read(...asked) {
          const entries = await broadcast.read(...asked);
          const last = entries.at(-1);
          if (last) outbox.saw(last.id);
          return entries;
        },
      },
    });
    return { leadership, outbox: { ...outbox, held: leadership.held, reader: accounts } };
  });
  const leaderships = led.map(({ leadership }) => leadership);
  return {
    outboxes: led.map(({ outbox }) => outbox),
    tryNow() {
      for (const one of leaderships) one.tryNow();
    },
    held: () => leaderships.filter((one) => one.held() !== null).length,
    start() {
      for (const one of leaderships) one.start();
      sharing?.start(leaderships);
    },
    async stop() {
      await sharing?.stop();
      await Promise.all(leaderships.map((one) => one.stop()));
    },
  };
}

/** The outbox of a partition. */
export const outboxOf = (partition: Partition): Outbox => ({
  ...partition,
  records: partition.reads.records,
  logs: partition.accountLogs,
  saw: partition.durability.saw,
});
