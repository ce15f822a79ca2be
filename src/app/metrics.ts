import { MODES } from '../exchange/status';
import type { QueueCounts } from '../jobs/queue-counts';
import type { EventLoop } from '../metrics/event-loop';
import type { Metrics, Sample } from '../metrics/metrics';
import type { DurabilityState } from '../store/health/durability';
import { readMode } from '../store/health/health';
import { infoOf, number } from '../store/health/info';
import { readRuns } from '../store/health/runs';
import { broadcastLag } from '../store/outbox/lag';
import type { Partition } from '../store/partition';
import { holderOf } from '../store/redis/holder';
import { PROGRAM } from './process';
import type { Store } from './store';

/** What only this process measures. */
interface Measured {
  readonly eventLoop: EventLoop;
  readonly queues: QueueCounts;
}

/**
 * Connects the gauges of docs/run/metrics.md with their sources, for web and worker alike: the process itself, and the state in Redis,
 * which any process can read.
 */
export function observe(name: 'web' | 'worker', store: Store, { eventLoop, queues }: Measured): void {
  const { config, metrics, redis, durability, partitions, extensions } = store;
  const labels = {
    process: name,
    version: PROGRAM.version,
    commit: PROGRAM.commit ?? '',
    layout: String(PROGRAM.layout),
    node: process.version,
    network: config.network,
    funds: config.funds,
  };
  metrics.sample(() => [
    { name: 'exchange_info', value: 1, labels },
    { name: 'exchange_redis_up', value: Number(redis.status === 'ready') },
    { name: 'exchange_event_loop_delay_seconds', value: eventLoop.delayMs() / 1_000 },
    ...durabilitySamples(durability.current()),
  ]);
  for (const partition of partitions) {
    metrics.sample(() => memorySamples(store, partition));
    metrics.sample(() => epochSamples(partition));
    metrics.sample(() => modeSamples(store, partition));
    metrics.sample(() => outboxSamples(store, partition));
    metrics.sample(() => settlementSamples(store, partition));
  }
  metrics.sample(async () =>
    Object.entries(await readRuns(store)).flatMap(([command, { succeededMs, failedMs }]): Sample[] => [
      { name: 'exchange_last_success_time_seconds', value: succeededMs / 1_000, labels: { command } },
      { name: 'exchange_last_failure_time_seconds', value: failedMs / 1_000, labels: { command } },
    ]),
  );
  for (const { samples } of extensions) for (const source of samples?.(store) ?? []) metrics.sample(source);
  metrics.sample(async () =>
    (await queues.count()).map(({ queue, state, count }) => ({
      name: 'exchange_jobs',
      value: count,
      labels: { queue, state },
    })),
  );
}

const durabilitySamples = (state: DurabilityState | null): Sample[] =>
  state
    ? [
        { name: 'exchange_durability', value: 1, labels: { durability: state.durability } },
        ...(state.replicaLagBytes === null
          ? []
          : [{ name: 'exchange_replica_lag_bytes', value: state.replicaLagBytes } as const]),
      ]
    : [];

/** What this process saw at its last look at the epoch. */
function epochSamples({ durability, labels }: Partition): Sample[] {
  const state = durability.current();
  if (state === null) return [];
  const { isFirst, sinceMs, lostMs } = state;
  return [
    { name: 'exchange_epoch_start_time_seconds', value: isFirst ? 0 : sinceMs / 1_000, labels },
    { name: 'exchange_data_lost', value: Number(lostMs !== null), labels },
  ];
}

async function modeSamples({ redis }: Store, { keys, labels }: Partition): Promise<Sample[]> {
  const { mode } = await readMode(redis, keys);
  return [{ name: 'exchange_mode', value: MODES.indexOf(mode), labels }];
}

async function memorySamples({ redis }: Store, { keys, labels }: Partition): Promise<Sample[]> {
  const info = await infoOf(holderOf(redis, keys));
  return [
    { name: 'exchange_redis_used_memory_bytes', value: number(info, 'used_memory'), labels },
    { name: 'exchange_redis_maxmemory_bytes', value: number(info, 'maxmemory'), labels },
  ];
}

async function outboxSamples(
  { redis }: Store,
  { outboxLag, keys, broadcasts, labels }: Partition,
): Promise<Sample[]> {
  const [{ length, readers }, broadcast] = await Promise.all([
    outboxLag.look(),
    broadcastLag({ redis, keys }, broadcasts),
  ]);
  return [
    { name: 'exchange_outbox_length', value: length, labels },
    { name: 'exchange_broadcast_lag_sequences', value: broadcast, labels },
    ...readers.flatMap(({ reader, unprocessed, seconds }): Sample[] => [
      { name: 'exchange_outbox_unprocessed', value: unprocessed, labels: { reader, ...labels } },
      { name: 'exchange_outbox_lag_seconds', value: seconds, labels: { reader, ...labels } },
    ]),
  ];
}

async function settlementSamples({ clock }: Store, { settlements, labels }: Partition): Promise<Sample[]> {
  const { failed, unsettled, oldestMs } = await settlements.counts();
  const age = oldestMs === null ? 0 : Math.max(0, clock.now() - oldestMs) / 1_000;
  return [
    { name: 'exchange_settlements_unconfirmed', value: unsettled, labels },
    { name: 'exchange_settlements_failed', value: failed, labels },
    { name: 'exchange_settlement_oldest_unconfirmed_seconds', value: age, labels },
  ];
}

/** The metrics that only a web process has. */
export function observeWeb(
  metrics: Metrics,
  backend: string,
  stats: () => {
    readonly sockets: number;
    readonly subscriptions: number;
    readonly broadcasting: number;
    readonly inFlight: number;
  },
): void {
  metrics.sample(() => {
    const { sockets, subscriptions, broadcasting, inFlight } = stats();
    return [
      { name: 'exchange_verification_backend', value: 1, labels: { backend } },
      { name: 'exchange_orders_in_flight', value: inFlight },
      { name: 'exchange_sockets', value: sockets },
      { name: 'exchange_subscriptions', value: subscriptions },
      { name: 'exchange_broadcasting', value: broadcasting },
    ];
  });
}
