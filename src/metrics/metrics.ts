import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { Tally, Timings } from './recorders';

/**
 * The metrics that are measured as events happen. Their labels name no wallets, markets or orders, so the number of series
 * is bounded.
 */
export interface Metrics {
  /** Counts a run of a script, or its failure. */
  script(verb: string, seconds: number, failed: boolean): void;
  /** Counts an answer; `route` is the declared path (`GET /markets/{id}`), never the requested one. */
  answered(route: string, status: number, seconds: number): void;
  /** Counts a refusal over HTTP. */
  refused(code: string): void;
  /** Counts a submitted order: its status when accepted or replayed, else the code of the refusal. */
  order(result: OrderResult, code: string): void;
  /** Counts the fills of an order that was booked, and their value in collateral at its price. */
  traded(fills: number, value: number): void;
  /** Counts a question to a contract wallet, by its answer. */
  walletSignature(result: string): void;
  /** Counts each time that a channel of collateral between two shards is seen that lost entries. */
  brokenChannel(from: number, to: number): void;
  /** Counts a command that its shard had too little collateral for, by its end. */
  pulled(end: string): void;
  /** Counts collateral that left a shard for another one. */
  transferred(from: number): void;
  /** Adds a reader of gauges, called at each scrape. A reader that fails or is late leaves its gauges out. */
  sample(read: () => Promise<readonly Sample[]> | readonly Sample[]): void;
  /** Returns the text of GET /metrics. Scrapes shortly after each other get the same text. */
  expose(): Promise<Exposition>;
}

export type OrderResult = 'accepted' | 'replayed' | 'refused';

export interface Sample {
  readonly name: keyof typeof GAUGES;
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface Exposition {
  readonly type: string;
  readonly text: string;
}

/**
 * Gauges that are read at each scrape: name -> help and labels. docs/run/metrics.md explains each. An exchange with one shard has no
 * value for the label `shard`, and Prometheus then knows no such label.
 */
const GAUGES = {
  exchange_info: [
    '1, with the version in its labels',
    ['process', 'version', 'commit', 'layout', 'node', 'network', 'funds'],
  ],
  exchange_verification_backend: ['1 for the library that verifies order signatures', ['backend']],
  exchange_mode: ['The mode that operators set: 0 NORMAL, 1 CANCEL_ONLY, 2 HALTED', ['shard']],
  exchange_redis_up: ['1 while commands can be sent to Redis', []],
  exchange_redis_used_memory_bytes: ['Memory that Redis uses', ['shard']],
  exchange_redis_maxmemory_bytes: ['Its limit; 0 without one', ['shard']],
  exchange_outbox_length: ['Entries in the outbox, processed ones included', ['shard']],
  exchange_outbox_unprocessed: [
    'Entries of the outbox its reader has not finished with',
    ['reader', 'shard'],
  ],
  exchange_outbox_lag_seconds: ['Age of what its reader has not finished with', ['reader', 'shard']],
  exchange_broadcast_lag_sequences: ['Commands of the busiest market that were not broadcast yet', ['shard']],
  exchange_shard_up: ['1 while a shard answers this process', ['shard']],
  exchange_shards: ['Shards of an exchange with several', []],
  exchange_broadcasting: ['Shards that this process broadcasts', []],
  exchange_relaying: ['Shards whose matches this process makes jobs of', []],
  exchange_orders_in_flight: ['Submissions under way in this process', []],
  exchange_durability: ['1 for what a Redis that dies keeps of what it answered', ['durability']],
  exchange_replica_lag_bytes: [
    'Bytes that the last replica which must confirm is behind, with DURABILITY=replicated',
    [],
  ],
  exchange_epoch_start_time_seconds: ['When the epoch of the data began; 0 for its first', ['shard']],
  exchange_data_lost: ['1 while the loss of all data waits for an operator', ['shard']],
  exchange_last_success_time_seconds: ['When a timed command succeeded last; 0 for never', ['command']],
  exchange_last_failure_time_seconds: ['When a timed command failed last; 0 for never', ['command']],
  exchange_sockets: ['Open sockets of this process', []],
  exchange_subscriptions: ['Markets followed by the sockets of this process, added up', []],
  exchange_settlements_unconfirmed: ['Settlement records that are not confirmed', ['shard']],
  exchange_settlements_failed: ['Settlement records that were given up', ['shard']],
  exchange_settlement_oldest_unconfirmed_seconds: [
    'Age of the oldest unconfirmed settlement record',
    ['shard'],
  ],
  exchange_chain_final_block: ['Number of the final block that the books have', []],
  exchange_chain_final_age_seconds: ['Time since the books got a new final block', []],
  exchange_chain_head_lag_blocks: ['Blocks from the final one to the head', []],
  exchange_chain_unsettled_value: ['Value of matches that wait for the chain, of all wallets', []],
  exchange_chain_reorged_blocks: ['Blocks of the head that were replaced, seen by this process', []],
  exchange_chain_reorg_depth_blocks: ['The most of them at once', []],
  exchange_chain_lanes: ['Lanes of the operator in a state', ['state']],
  exchange_chain_open_transactions: ['Transactions of the operator that are not final', []],
  exchange_chain_replacements: ['Attempts at a higher price of transactions that are not final', []],
  exchange_chain_lane_money: ['Money for gas of a lane, in the coin of the chain', ['lane']],
  exchange_chain_nonce_gap: ['Nonces of a lane that are signed and in no block', ['lane']],
  exchange_chain_failed: ['Settlements that failed for a reason', ['reason']],
  exchange_chain_strikes: ['Strikes of wallets by whose fault a settlement failed', []],
  exchange_chain_gas_transactions: ['Final transactions of the lanes, counted by this process', []],
  exchange_chain_gas_used: ['Gas that they used', []],
  exchange_chain_gas_paid: ['What they paid for it, in the coin of the chain', []],
  exchange_chain_gas_price_gwei: ['Price of gas of the last of them', []],
  exchange_chain_waiting: ['Requests that wait for a worker with the key of the oracle', ['what']],
  exchange_chain_node_failures: ['Failures of a node of the chain in this process', ['node']],
  exchange_chain_node_contradictions: ['Answers of a node that a majority contradicted', ['node']],
  exchange_chain_node_set_aside: ['1 while a node is asked last', ['node']],
  exchange_archived: ['Records of a kind that left Redis for the archive', ['kind', 'shard']],
  exchange_archive_up: ['1 while the archive answers; missing without one', ['shard']],
  exchange_archive_lag_seconds: [
    'Age of what the archive takes next, beyond the minute that it stays',
    ['shard'],
  ],
  exchange_archive_held_seconds: ['Age of the oldest match that may not leave', ['shard']],
  exchange_jobs: ['Jobs of a queue in a state', ['queue', 'state']],
  exchange_event_loop_delay_seconds: ['How late timers of this process ran, of late', []],
} as const satisfies Record<string, readonly [string, readonly string[]]>;

const STATUS_CLASSES = ['', '1xx', '2xx', '3xx', '4xx', '5xx'];
const HTTP_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const SCRIPT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5];
/** A scrape is answered within this time even when Redis does not respond. */
const SAMPLE_MAX_MS = 1_000;
/** The gauges are read at most once in this time, because reading them costs Redis a few commands. */
const KEPT_MS = 1_000;

/** Creates the metrics of one process, with its own registry, so that two exchanges can run in one test. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const http = new Timings(
    registry,
    'exchange_http_request_seconds',
    'From the complete request to its answer',
    ['route', 'status'],
    HTTP_BUCKETS,
  );
  const scripts = new Timings(
    registry,
    'exchange_script_seconds',
    'A script, from the call to its reply',
    ['verb'],
    SCRIPT_BUCKETS,
  );
  const tally = <L extends string>(name: string, help: string, ...labels: [L, L?]) =>
    new Tally(registry, name, help, labels);
  const failures = tally(
    'exchange_script_failures_total',
    'Calls of scripts that brought no reply, or that Redis refused',
    'verb',
  );
  const refusals = tally('exchange_refusals_total', 'Requests that were refused', 'code');
  const orders = tally('exchange_orders_total', 'Orders that were submitted', 'result', 'code');
  const count = (name: string, help: string) => new Counter({ name, help, registers: [registry] });
  const trades = count('exchange_trades_total', 'Fills of the orders that were submitted');
  const volume = count('exchange_volume_total', 'Value of these fills in collateral');
  const signatures = tally(
    'exchange_wallet_signatures_total',
    'Signatures of contract wallets that were checked on the chain',
    'result',
  );
  const broken = tally(
    'exchange_broken_channels_total',
    'Looks at a channel between two shards that lost collateral on its way',
    ...(['from', 'to'] as const),
  );
  const pulled = tally(
    'exchange_pulled_orders_total',
    'Orders that needed collateral of other shards',
    'end',
  );
  const transfers = tally('exchange_transfers_total', 'Transfers of collateral to other shards', 'from');
  const gauges = Object.entries(GAUGES).map(([name, [help, labelNames]]) => ({
    name,
    isPlain: labelNames.length === 0,
    gauge: new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] }),
  }));
  const readers: (() => Promise<readonly Sample[]> | readonly Sample[])[] = [];
  let kept: { readonly untilMs: number; readonly text: Promise<string> } | null = null;

  async function render(): Promise<string> {
    const samples = await Promise.all(readers.map((read) => inTime(read)));
    for (const { name, isPlain, gauge } of gauges) {
      gauge.reset();
      // Without labels a reset leaves a zero, which would report a value that could not be read.
      if (isPlain) gauge.remove();
      for (const sample of samples.flat())
        if (sample.name === name) gauge.set(sample.labels ?? {}, sample.value);
    }
    return registry.metrics();
  }

  return {
    script: (verb, seconds, failed) => {
      scripts.observe(seconds, verb);
      if (failed) failures.add(verb);
    },
    answered: (route, status, seconds) =>
      http.observe(seconds, route, STATUS_CLASSES[Math.trunc(status / 100)]),
    refused: (code) => refusals.add(code),
    order: (result, code) => orders.add(result, code),
    traded: (fills, value) => {
      trades.inc(fills);
      volume.inc(value);
    },
    walletSignature: (result) => signatures.add(result),
    brokenChannel: (from, to) => broken.add(String(from), String(to)),
    pulled: (end) => pulled.add(end),
    transferred: (from) => transfers.add(String(from)),
    sample: (read) => void readers.push(read),
    expose: async () => {
      if (!kept || kept.untilMs < performance.now())
        kept = { untilMs: performance.now() + KEPT_MS, text: render() };
      return { type: registry.contentType, text: await kept.text };
    },
  };
}

/** Returns the values of a reader; none when it fails or takes too long. */
async function inTime(
  read: () => Promise<readonly Sample[]> | readonly Sample[],
): Promise<readonly Sample[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly Sample[]>((resolve) => {
    timer = setTimeout(resolve, SAMPLE_MAX_MS, []);
  });
  try {
    return await Promise.race([read(), late]);
  } catch {
    return [];
  } finally {
    clearTimeout(timer);
  }
}
