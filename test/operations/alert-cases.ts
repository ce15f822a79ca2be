/** A state of a deployment, and the alerts that fire in it: test/operations/alerts.test.ts plays each. */
export interface Case {
  readonly name: string;
  /** Series, with values as promtool writes them. */
  readonly series: Readonly<Record<string, string>>;
  /** The alerts that fire at each moment, with the labels of their series; all others are silent. */
  readonly fires: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>>;
}

const WEB = 'instance="w:3000",job="exchange"';
const OTHER = 'instance="v:3000",job="exchange"';
const WORKER = 'instance="k:9464",job="exchange"';
const instance = { instance: 'w:3000', job: 'exchange' };

/** A healthy deployment. */
const WELL = {
  [`up{${WEB}}`]: '1x60',
  [`up{${WORKER}}`]: '1x60',
  [`exchange_info{process="web",version="1",commit="a",${WEB}}`]: '1x60',
  [`exchange_info{process="worker",version="1",commit="a",${WORKER}}`]: '1x60',
  [`exchange_redis_up{${WEB}}`]: '1x60',
  [`exchange_broadcasting{${WEB}}`]: '1x60',
  [`exchange_relaying{${WORKER}}`]: '1x60',
  [`exchange_durability{durability="always",${WEB}}`]: '1x60',
  [`exchange_redis_used_memory_bytes{${WEB}}`]: '50x60',
  [`exchange_redis_maxmemory_bytes{${WEB}}`]: '100x60',
  [`exchange_http_request_seconds_count{status="2xx",${WEB}}`]: '0+600x60',
  [`exchange_last_success_time_seconds{command="backup",${WEB}}`]: '60x60',
  [`exchange_last_success_time_seconds{command="audit",${WEB}}`]: '60x60',
  [`exchange_last_failure_time_seconds{command="backup",${WEB}}`]: '-300000x60',
  [`exchange_last_failure_time_seconds{command="audit",${WEB}}`]: '-300000x60',
};

export const CASES: readonly Case[] = [
  { name: 'nothing fires while all is well', series: WELL, fires: { '3m': {}, '40m': {} } },
  {
    name: 'all processes are dead and Prometheus has their addresses',
    series: { [`up{${WEB}}`]: '0x60', [`up{${WORKER}}`]: '0x60' },
    fires: {
      '3m': {
        ExchangeProcessDown: instance,
        ExchangeNoWeb: { process: 'web' },
        ExchangeNoWorker: { process: 'worker' },
      },
    },
  },
  {
    name: 'all processes are dead and nothing is known of them',
    series: { 'up{job="another"}': '1x60' },
    fires: { '3m': { ExchangeNoWeb: { process: 'web' }, ExchangeNoWorker: { process: 'worker' } } },
  },
  {
    name: 'processes die later',
    series: Object.fromEntries(
      Object.entries(WELL).map(([name, values]) => [
        name,
        name.startsWith('up') ? '1x9 0x50' : `${values.replace(/x60$/, 'x9')} stale`,
      ]),
    ),
    fires: {
      '9m': {},
      '13m': {
        ExchangeProcessDown: instance,
        ExchangeNoWeb: { process: 'web' },
        ExchangeNoWorker: { process: 'worker' },
      },
    },
  },
  {
    name: 'the first bug of a process',
    series: { ...WELL, [`exchange_refusals_total{code="INTERNAL",${WEB}}`]: '_x10 1x49' },
    fires: { '9m': {}, '12m': { ExchangeBug: {} }, '30m': {} },
  },
  {
    name: 'a second bug of the same process',
    series: { ...WELL, [`exchange_refusals_total{code="INTERNAL",${WEB}}`]: '1x30 2x29' },
    fires: { '25m': {}, '33m': { ExchangeBug: {} } },
  },
  {
    name: 'the operator halts the exchange',
    series: {
      ...WELL,
      [`exchange_http_request_seconds_count{status="5xx",${WEB}}`]: '0+300x60',
      [`exchange_refusals_total{code="HALTED",${WEB}}`]: '0+300x60',
    },
    fires: { '10m': {} },
  },
  {
    name: 'answers fail, and no operator wants it',
    series: {
      ...WELL,
      [`exchange_http_request_seconds_count{status="5xx",${WEB}}`]: '0+300x60',
      [`exchange_refusals_total{code="UNAVAILABLE",${WEB}}`]: '0+300x60',
    },
    fires: { '10m': { ExchangeServerErrors: {} } },
  },
  {
    name: 'records that are over stay in Redis',
    series: { ...WELL, [`exchange_archive_lag_seconds{${WEB}}`]: '0+60x60' },
    fires: { '9m': {}, '20m': { ExchangeArchiveBehind: {} } },
  },
  {
    name: 'the archive does not answer one of two processes',
    series: {
      ...WELL,
      [`exchange_archive_up{${WEB}}`]: '1x4 0x60',
      [`exchange_archive_up{${WORKER}}`]: '1x60',
    },
    fires: { '4m': {}, '10m': { ExchangeArchiveAway: {} } },
  },
  {
    name: 'one of three nodes of the chain is set aside by all processes, another one by one of them',
    series: {
      ...WELL,
      [`exchange_chain_node_set_aside{node="0",${WEB}}`]: '1x60',
      [`exchange_chain_node_set_aside{node="0",${WORKER}}`]: '0x60',
      [`exchange_chain_node_set_aside{node="2",${WEB}}`]: '0x9 1x20 0x30',
      [`exchange_chain_node_set_aside{node="2",${WORKER}}`]: '0x9 1x20 0x30',
    },
    fires: { '12m': {}, '16m': { ExchangeNodeSetAside: { node: '2' } }, '40m': {} },
  },
  {
    name: 'a process begins a new epoch, and another one sees it later',
    series: {
      ...Object.fromEntries(Object.entries(WELL).map(([name, to]) => [name, to.replace(/x60$/, 'x120')])),
      [`exchange_epoch_start_time_seconds{${WEB}}`]: '0x9 600x109',
      [`exchange_epoch_start_time_seconds{${OTHER}}`]: '0x11 600x107',
    },
    fires: { '9m': {}, '11m': { ExchangeNewEpoch: {} }, '60m': { ExchangeNewEpoch: {} }, '75m': {} },
  },
  {
    name: 'one of several shards lost everything, and an operator accepts it',
    series: {
      ...WELL,
      [`exchange_data_lost{shard="0",${WEB}}`]: '0x60',
      [`exchange_data_lost{shard="1",${WEB}}`]: '0x4 1x20 0x34',
    },
    fires: { '4m': {}, '6m': { ExchangeDataLost: {} }, '30m': {} },
  },
  {
    name: 'the last backup is of the day before yesterday, and so was an audit',
    series: {
      ...WELL,
      [`exchange_last_success_time_seconds{command="backup",${WEB}}`]: '-129000x60',
      [`exchange_last_success_time_seconds{command="audit",${WEB}}`]: '-129000x20 1200x40',
    },
    fires: { '9m': {}, '40m': {} },
  },
  {
    name: 'a backup is two days old',
    series: {
      ...WELL,
      [`exchange_last_success_time_seconds{command="backup",${WEB}}`]: '-172800x120',
      [`exchange_last_success_time_seconds{command="audit",${WEB}}`]: '-172800x30 1800x90',
    },
    fires: { '59m': {}, '60m': { ExchangeBackupOld: {} } },
  },
  {
    name: 'an audit is two days old',
    series: { ...WELL, [`exchange_last_success_time_seconds{command="audit",${WEB}}`]: '-172800x60' },
    fires: { '59m': {}, '60m': { ExchangeAuditOld: {} } },
  },
  {
    name: 'an audit finds differences, and the next one finds none',
    series: {
      ...WELL,
      [`exchange_last_failure_time_seconds{command="audit",${WEB}}`]: '0x9 600x51',
      [`exchange_last_success_time_seconds{command="audit",${WEB}}`]: '60x19 1200x41',
    },
    fires: { '9m': {}, '12m': { ExchangeCheckFailed: { command: 'audit' } }, '25m': {} },
  },
  {
    name: 'Redis is nearly full',
    series: { ...WELL, [`exchange_redis_used_memory_bytes{${WEB}}`]: '90x60' },
    fires: { '10m': { ExchangeRedisFull: {} } },
  },
  {
    name: 'the Redis of one of two shards is nearly full, and a settlement of the other shard is given up',
    series: {
      ...WELL,
      [`exchange_redis_used_memory_bytes{shard="0",${WEB}}`]: '90x60',
      [`exchange_redis_maxmemory_bytes{shard="0",${WEB}}`]: '100x60',
      [`exchange_redis_used_memory_bytes{shard="1",${WEB}}`]: '90x60',
      [`exchange_redis_maxmemory_bytes{shard="1",${WEB}}`]: '1000x60',
      [`exchange_settlements_failed{shard="0",${WEB}}`]: '7x60',
      [`exchange_settlements_failed{shard="1",${WEB}}`]: '1x20 2x39',
    },
    fires: {
      '10m': { ExchangeRedisFull: {} },
      '25m': { ExchangeRedisFull: {}, ExchangeSettlementFailed: {} },
    },
  },
  {
    name: 'two processes broadcast three of four shards for a while, and later the worker relays three of four',
    series: {
      ...WELL,
      [`exchange_shards{${WEB}}`]: '4x60',
      [`exchange_broadcasting{${WEB}}`]: '2x10 1x10 2x40',
      [`exchange_broadcasting{${OTHER}}`]: '2x60',
      [`exchange_relaying{${WORKER}}`]: '4x30 3x30',
    },
    fires: {
      '9m': {},
      '15m': { ExchangeNobodyBroadcasts: {} },
      '29m': {},
      '40m': { ExchangeNobodyRelays: {} },
    },
  },
  {
    name: 'one of two shards does not answer one of two processes',
    series: {
      ...WELL,
      [`exchange_shard_up{shard="0",${WEB}}`]: '1x60',
      [`exchange_shard_up{shard="1",${WEB}}`]: '1x20 0x20 1x19',
      [`exchange_shard_up{shard="1",${WORKER}}`]: '1x60',
    },
    fires: { '15m': {}, '30m': { ExchangeShardAway: { shard: '1', ...instance } }, '50m': {} },
  },
  {
    name: 'the only shard is broadcast and relayed by no process, while others run',
    series: { ...WELL, [`exchange_broadcasting{${WEB}}`]: '0x60', [`exchange_relaying{${WORKER}}`]: '0x60' },
    fires: { '5m': { ExchangeNobodyBroadcasts: {}, ExchangeNobodyRelays: {} } },
  },
  {
    name: 'a channel between two shards is broken until the exchange is repaired',
    series: {
      ...WELL,
      [`exchange_broken_channels_total{from="0",to="1",${WORKER}}`]: '_x20 1+60x19 1141x20',
    },
    fires: { '15m': {}, '25m': { ExchangeChannelBroken: { from: '0', to: '1' } }, '55m': {} },
  },
  {
    name: 'a Redis without a limit is not full',
    series: { ...WELL, [`exchange_redis_maxmemory_bytes{${WEB}}`]: '0x60' },
    fires: { '10m': {} },
  },
  {
    name: 'a node of the chain fails, and the other one now and then',
    series: {
      ...WELL,
      [`exchange_chain_node_failures{node="a (1)",${WORKER}}`]: '5x20 6+3x39',
      [`exchange_chain_node_failures{node="b (2)",${WORKER}}`]: '0+1x60',
    },
    fires: { '15m': {}, '40m': { ExchangeNodeFailing: { node: 'a (1)' } } },
  },
  {
    name: 'the nodes do not answer about one signature of a contract wallet in ten, and then about one in two',
    series: {
      ...WELL,
      [`exchange_wallet_signatures_total{result="valid",${WEB}}`]: '0+9x60',
      [`exchange_wallet_signatures_total{result="unavailable",${WEB}}`]: '0+1x20 29+9x39',
    },
    fires: { '15m': {}, '40m': { ExchangeWalletSignatures: {} } },
  },
  {
    name: 'the head of the chain is replaced, first now and then, then again and again',
    series: { ...WELL, [`exchange_chain_reorged_blocks{${WORKER}}`]: '0+1x30 32+2x29' },
    fires: { '25m': {}, '45m': { ExchangeChainReorgs: {} } },
  },
  {
    name: 'one of two lanes has little money for gas, and then gets some',
    series: {
      ...WELL,
      [`exchange_chain_lane_money{lane="0xa",${WORKER}}`]: '1x9 0.3x20 1x29',
      [`exchange_chain_lane_money{lane="0xb",${WORKER}}`]: '1x60',
    },
    fires: { '9m': {}, '20m': { ExchangeLanePoor: { lane: '0xa' } }, '40m': {} },
  },
  {
    name: 'a match waits for the chain for longer than its blocks need to be final',
    series: {
      ...WELL,
      [`exchange_settlement_oldest_unconfirmed_seconds{${WORKER}}`]: '10x9 80x20 10x29',
      [`exchange_chain_head_lag_blocks{${WORKER}}`]: '3x60',
    },
    fires: { '9m': {}, '20m': { ExchangeChainSettlementLate: {} }, '40m': {} },
  },
  {
    name: 'matches wait for as many blocks as CHAIN_CONFIRMATIONS wants',
    series: {
      ...WELL,
      [`exchange_settlement_oldest_unconfirmed_seconds{${WORKER}}`]: '80x60',
      [`exchange_chain_head_lag_blocks{${WORKER}}`]: '60x60',
    },
    fires: { '20m': {} },
  },
  {
    name: 'a settlement with paper funds waits for a minute',
    series: { ...WELL, [`exchange_settlement_oldest_unconfirmed_seconds{${WORKER}}`]: '80x60' },
    fires: { '20m': {} },
  },
  {
    name: 'Redis hides its durability',
    series: { ...WELL, [`exchange_durability{durability="unknown",${WEB}}`]: '1x60' },
    fires: { '10m': { ExchangeWeakDurability: {} } },
  },
];
