import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/load';
import type { QueueCounts } from '../jobs/queue-counts';
import type { EventLoop } from '../metrics/event-loop';
import type { Metrics, Sample } from '../metrics/metrics';
import type { DurabilityChecks, DurabilityState } from '../store/health/durability';
import { infoOf, number } from '../store/health/info';
import { readRuns } from '../store/health/runs';
import { broadcastLag } from '../store/outbox/lag';
import type { Clock } from '../store/redis/clock';
import { holderOf } from '../store/redis/holder';
import type { Keys } from '../store/redis/keys';
import type { RedisClient, RunScript } from '../store/redis/scripts';
import type { ShardParts } from '../store/shard';
import { PROGRAM } from './process';
import type { Store } from './store';

/** The part of the composition root that connects the gauges of docs/run/metrics.md with their sources. */
export interface Observed {
  readonly config: Config;
  readonly metrics: Metrics;
  readonly eventLoop: EventLoop;
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly standings: Pick<DurabilityChecks, 'current'>;
  readonly shards: readonly Pick<
    ShardParts,
    'archive' | 'keys' | 'broadcasts' | 'settlements' | 'outboxLag' | 'standings'
  >[];
  readonly queues: QueueCounts;
  readonly books: Store['books'];
  readonly archives: Pick<Store['archives'], 'samples'>;
  readonly run: RunScript;
}

/** The metrics of web and worker alike: the process itself, and the state in Redis, which any process can read. */
export function observe(name: 'web' | 'worker', observed: Observed): void {
  const { config, metrics, eventLoop, redis } = observed;
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
    ...durabilitySamples(observed.standings.current()),
    ...(config.shards > 1 ? [{ name: 'exchange_shards', value: config.shards } as const] : []),
  ]);
  for (const shard of shardsOf(observed)) {
    if (config.shards > 1) metrics.sample(() => upSamples(shard));
    metrics.sample(() => memorySamples(shard));
    metrics.sample(() => epochSamples(shard));
    metrics.sample(() => outboxSamples(shard));
    metrics.sample(() => observed.archives.samples(shard));
    metrics.sample(() => settlementSamples(shard));
  }
  metrics.sample(async () =>
    Object.entries(await readRuns(observed)).flatMap(([command, { succeededMs, failedMs }]): Sample[] => [
      { name: 'exchange_last_success_time_seconds', value: succeededMs / 1_000, labels: { command } },
      { name: 'exchange_last_failure_time_seconds', value: failedMs / 1_000, labels: { command } },
    ]),
  );
  for (const sample of observed.books?.samples ?? []) metrics.sample(sample);
  metrics.sample(async () =>
    (await observed.queues.count()).map(({ queue, state, count }) => ({
      name: 'exchange_jobs',
      value: count,
      labels: { queue, state },
    })),
  );
}

const durabilitySamples = (standing: DurabilityState | null): Sample[] =>
  standing
    ? [
        { name: 'exchange_durability', value: 1, labels: { durability: standing.durability } },
        ...(standing.replicaLagBytes === null
          ? []
          : [{ name: 'exchange_replica_lag_bytes', value: standing.replicaLagBytes } as const]),
      ]
    : [];

/** The sources of a shard's gauges, and the labels that name the shard: none in an exchange with one. */
type ShardObserved = Observed['shards'][number] &
  Pick<Observed, 'redis' | 'clock' | 'books'> & {
    readonly labels: Readonly<Record<string, string>>;
  };

const shardsOf = ({ shards, redis, clock, books }: Observed): ShardObserved[] =>
  shards.map((shard, k) => ({
    ...shard,
    redis,
    clock,
    books,
    labels: shards.length > 1 ? { shard: String(k) } : NO_LABELS,
  }));
const NO_LABELS = {};

/** Less than a scrape waits for its values: a shard that is silent is 0, and not missing. */
const UP_MS_MAX = 800;

async function upSamples({ redis, keys, labels }: ShardObserved): Promise<Sample[]> {
  const answers = redis.exists(keys.mode).then(
    () => true,
    () => false,
  );
  const isUp = await Promise.race([answers, sleep(UP_MS_MAX, false, { ref: false })]);
  return [{ name: 'exchange_shard_up', value: Number(isUp), labels }];
}

/** What this process saw at its last look at the epoch. */
function epochSamples({ standings, labels }: ShardObserved): Sample[] {
  const standing = standings.current();
  if (standing === null) return [];
  const { isFirst, sinceMs, lostMs } = standing;
  return [
    { name: 'exchange_epoch_start_time_seconds', value: isFirst ? 0 : sinceMs / 1_000, labels },
    { name: 'exchange_data_lost', value: Number(lostMs !== null), labels },
  ];
}

async function memorySamples({ redis, keys, labels }: ShardObserved): Promise<Sample[]> {
  const info = await infoOf(holderOf(redis, keys));
  return [
    { name: 'exchange_redis_used_memory_bytes', value: number(info, 'used_memory'), labels },
    { name: 'exchange_redis_maxmemory_bytes', value: number(info, 'maxmemory'), labels },
  ];
}

async function outboxSamples(shard: ShardObserved): Promise<Sample[]> {
  const { outboxLag, redis, keys, broadcasts, labels } = shard;
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

async function settlementSamples(shard: ShardObserved): Promise<Sample[]> {
  const { settlements, clock, books, labels } = shard;
  const { failed, ...all } = await settlements.counts();
  const waiting = await books?.congestion.look();
  const [unsettled, oldestMs] = waiting ? [waiting.count, waiting.oldestMs] : [all.unsettled, all.oldestMs];
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
