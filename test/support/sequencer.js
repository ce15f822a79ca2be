const path = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * Files that take long, in seconds. The longest go first, so that no worker is left alone with one in the end. jest
 * notes how long a file took; this is for a machine that has never run them.
 */
const SECONDS = {
  'store/fuzz': 40,
  'faults/planted': 20,
  'store/planted': 20,
  'realtime/dead-mans-switch': 33,
  'faults/clocks': 50,
  'faults/promises': 30,
  'faults/late': 28,
  'faults/storm': 25,
  'realtime/recovery': 25,
  'page/looks': 24,
  'processes/life': 23,
  'client/live': 22,
  'http/bad-input': 22,
  'store/engine/reshard': 22,
  'realtime/storm': 21,
  'http/transport': 20,
  'faults/refusing-redis': 20,
  'realtime/slow': 17,
  'local/start': 16,
  'demo/bots': 14,
  'http/limits': 13,
  'faults/calm': 13,
  'faults/cancel-all': 13,
  'client/examples': 12,
  'wire/documents': 10,
  'store/audit/load': 10,
  'http/market-maker': 10,
  'realtime/clients': 10,
  'client/package': 14,
  'faults/epoch': 10,
  'hostile/requests': 10,
  'local/first-start': 9,
  'page/walk': 9,
  'realtime/markets': 9,
};
const OTHERS_SEC = 3;
const TESTS = path.join(__dirname, '..');

module.exports = class extends Sequencer {
  time(test) {
    const name = path.relative(TESTS, test.path).replace(/\.test\.ts$/, '');
    return super.time(test) ?? 1_000 * (SECONDS[name.split(path.sep).join('/')] ?? OTHERS_SEC);
  }
};
module.exports.SECONDS = SECONDS;
