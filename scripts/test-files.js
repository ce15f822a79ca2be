/**
 * The files of test/ that each form of scripts/test.js runs; test/forms.test.ts proves that CI leaves out none of them.
 * `npm test` runs all of them. Those that would take too long play a sample there, which they print (test/support/sample.ts),
 * or less of the same (SIZES), and `npm run test:long` plays them whole.
 */
const { SECONDS } = require('../test/support/sequencer.js');

/** The sizes of the long form, by the variables that the tests read. */
const SIZES = {
  SAMPLE: 'all',
  FUZZ_WORLDS: '40',
  FUZZ_OPERATIONS: '20000',
  TEST_FILLS: '20000',
  TEST_KILLS: '9',
  TEST_HOLDERS: '5000',
  PAGE_MARKETS: '120',
  FAULT_SECONDS: '60',
  FAULT_ORDERS: '5000',
  FAULT_KILLS: '5',
  FAULT_REPLIES: '100',
  FAULT_RESTARTS: '2000',
  FAULT_ROUNDS: '50',
  UPGRADE_ROUNDS: '200',
  FRESH_STARTS: '10',
  REPLAY_COMMANDS: '10000',
  GENERATORS: '1',
  PYTHON_SECONDS: '120',
  PYTHON_KILL_SECONDS: '20',
};

/** Patterns as jest takes them. */
const LONG_FILES = [
  'test/store/(fuzz|fuzz-concurrent|journal-fuzz|planted)\\.test',
  'test/store/engine/reshard',
  'test/jobs/.*kills',
  'test/faults/(cancel-all|clocks|late|planted|promises|refusing-redis|replay|storm|moving-slot)\\.test',
  'test/http/bad-input',
  'test/client/(ccxt|package|python)\\.test',
  'test/local/(fresh-starts|start)\\.test',
  'test/page/(looks|product)',
  'test/realtime/recovery',
  'test/processes/upgrade',
  'test/wire/generators',
];

/** Folders that start processes, browsers or chains, or a whole exchange for each file, and the files that take long. */
const NOT_QUICK = [
  'test/(faults|page|processes|operations|containers|local|demo|hostile|chain|metrics|client|cli|jobs)/',
  'cluster',
  'kills',
  'fuzz',
  'history',
  ...Object.keys(SECONDS).map((name) => `test/${name}\\.test\\.ts$`),
];

module.exports = { LONG_FILES, NOT_QUICK, SIZES };
