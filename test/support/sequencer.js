const path = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * Slow files, in seconds. The longest start first, so that no worker is left alone with one at the end. jest notes how long
 * a file took; this list is for machines that have never run them.
 */
const SECONDS = {
  'chain/storm': 70,
  'chain/faults-redis': 40,
  'chain/operator-kills': 60,
  'chain/restored': 45,
  'chain/operate': 26,
  'chain/exchange': 110,
  'local/chain-start': 30,
  'store/fuzz': 20,
  'faults/planted': 8,
  'store/planted': 12,
  'realtime/dead-mans-switch': 33,
  'faults/clocks': 25,
  'faults/promises': 12,
  'faults/late': 16,
  'faults/storm': 18,
  'realtime/recovery': 25,
  'page/looks': 15,
  'processes/life': 23,
  'client/live': 22,
  'http/bad-input': 19,
  'store/engine/reshard': 12,
  'realtime/storm': 21,
  'http/transport': 20,
  'faults/refusing-redis': 8,
  'realtime/slow': 17,
  'local/start': 8,
  'demo/bots': 14,
  'http/limits': 13,
  'faults/calm': 13,
  'faults/cancel-all': 8,
  'faults/replay': 14,
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
  'page/product': 40,
  'http/pace': 15,
  'wire/generators': 10,
  'store/journal-fuzz': 8,
  'store/fuzz-concurrent': 6,
  'http/kept-reads': 6,
  'http/periods': 6,
  'http/shedding': 6,
  'http/market-list': 5,
  'store/journal-rebuild': 5,
  'http/comments': 4,
  'http/lifecycle': 4,
  'http/nonce': 4,
  'http/moderation': 4,
  'http/journal': 4,
  'http/address-limits': 4,
  'http/docs-page': 4,
  'http/candles': 3,
  'realtime/markets': 9,
  'realtime/renew': 8,
  'realtime/requests': 6,
  'realtime/account-sequence': 5,
  'http/api-keys': 5,
  readme: 4,
  'http/away': 4,
  'realtime/absent': 4,
  'store/holder': 4,
  'realtime/private': 4,
  'http/fills': 4,
  'auth/order-signature': 3,
  'http/several-markets': 3,
  'realtime/replay': 3,
  'http/replace': 3,
  'tidy-functions': 3,
  'store/patience': 6,
  'http/admin': 3,
  'http/address-reads': 3,
  'store/engine/sweeps': 3,
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
