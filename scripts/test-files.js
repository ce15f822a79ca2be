/**
 * The files of test/ that each form of scripts/test.js runs; test/forms.test.ts proves that CI omits none. `npm test` runs
 * all but ONLY_LONG. Files that would take too long run a sample, which they print (test/support/sample.ts), or smaller
 * sizes (SIZES). `npm run test:long` runs those files completely, and ONLY_LONG.
 */
const { SECONDS } = require('../test/support/sequencer.js');

/** The sizes of the long form, by the variables that the tests read. */
const SIZES = {
  SAMPLE: 'all',
  FUZZ_WORLDS: '40',
  FUZZ_OPERATIONS: '20000',
  CHAIN_STEPS: '800',
  SHARD_OPERATIONS: '105000',
  SHARD_PULLS: '4000',
  SHARD_ROUNDS: '40',
  SHARD_RACES: '2000',
  CLUSTER_ORDERS: '600',
  TEST_FILLS: '20000',
  TEST_KILLS: '9',
  RESENT_ORDERS: '2000',
  ARCHIVE_ORDERS: '100000',
  TEST_HOLDERS: '5000',
  PAGE_MARKETS: '120',
  FAULT_SECONDS: '60',
  FAULT_ORDERS: '5000',
  FAULT_KILLS: '5',
  FAULT_REPLIES: '100',
  FAULT_RESTARTS: '2000',
  FAULT_ROUNDS: '50',
  MODEL_SCOPES: 'all',
  UPGRADE_ROUNDS: '200',
  FRESH_STARTS: '10',
  REPLAY_COMMANDS: '10000',
  GENERATORS: '1',
  PYTHON_SECONDS: '120',
  PYTHON_KILL_SECONDS: '20',
};

/**
 * Long stories of processes, browsers and failovers. `npm test` has a shorter one of each kind: page/walk, processes/life,
 * faults/storm, faults/cancel-all, store/fuzz and jobs/settlement.
 */
const ONLY_LONG = [
  'test/faults/(acl|calm|clocks|epoch|failover-reads|late|late-writers|lost-replies|moving-slot)\\.test',
  'test/faults/(promises|refusing-redis|replay)\\.test',
  'test/operations/(acl-restart|cluster|managed|procfile|restore|rotation|unreachable)\\.test',
  'test/page/(contract-wallets|demo|faults|features|injected|looks|operate|product)\\.test',
  'test/processes/(layout|replicas|upgrade)\\.test',
  'test/local/(chain-start|first-start|fresh-starts|start)\\.test',
  'test/demo/(bots|shards)',
  'test/realtime/(recovery|slow|storm)\\.test',
  'test/client/(examples|faults|live|package|python)\\.test',
  'test/docs/raw-websocket',
  'test/hostile/socket-pace',
  'test/http/(pace|transport)\\.test',
  'test/jobs/.*kills',
  'test/chain/rejoin\\.test',
  'test/archive/(backup|exchange|grow|kills|programs|reads|resent)',
  'test/store/journal-fuzz\\.test',
  'test/shards/cluster-',
  'test/store/shards/silent\\.test',
  'test/shards/grow\\.test',
  'test/store/audit/load',
  'test/exchange/settlement-chain',
  'test/chain/(contract-orders|exchange|faults|gas|hostile-collateral|operate|operator-kills|recompile|restored|safe|sign-in|storm|wallets)',
  'test/cli/processes',
  'test/chain/(lookup|observer)',
];

/** Patterns as jest takes them. */
const LONG_FILES = [
  ...ONLY_LONG,
  'test/store/(fuzz|fuzz-concurrent)\\.test',
  'test/store/chain/fuzz\\.test',
  'test/store/shards/(concurrent|fuzz|races|storm)\\.test',
  'test/chain/fuzz',
  'test/archive/traces',
  'test/store/engine/reshard',
  'test/faults/(cancel-all|storm)\\.test',
  'test/http/bad-input',
  'test/hostile/order-entry',
  'test/wire/generators',
  'test/model/transfers',
];

/** Folders that start processes, browsers, chains or a whole exchange for each file, and slow files. */
const NOT_QUICK = [
  ...ONLY_LONG,
  'test/(faults|page|processes|operations|containers|local|demo|hostile|chain|metrics|client|cli|jobs)/',
  'cluster',
  'kills',
  'fuzz',
  'history',
  ...Object.keys(SECONDS).map((name) => `test/${name}\\.test\\.ts$`),
];

module.exports = { LONG_FILES, NOT_QUICK, ONLY_LONG, SIZES };
