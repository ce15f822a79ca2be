/**
 * `npm run test:faults`: the long form of the fault suite. FAULT_SEED chooses the schedules, which are printed; FAULT_SECONDS,
 * FAULT_ORDERS and FAULT_KILLS set its sizes; arguments go to jest, `storm` for example.
 */
const { spawnSync } = require('node:child_process');
const path = require('node:path');
const { build, isStale } = require('./build.js');

const ROOT = path.join(__dirname, '..');
const LONG = {
  SAMPLE: 'all',
  FAULT_SECONDS: '60',
  FAULT_ORDERS: '20000',
  FAULT_KILLS: '10',
  FAULT_REPLIES: '200',
  FAULT_RESTARTS: '5000',
};

if (isStale()) build();
const jest = path.join(ROOT, 'node_modules/jest/bin/jest.js');
const { status } = spawnSync(
  process.execPath,
  [jest, '--runInBand', 'test/faults', ...process.argv.slice(2)],
  {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...LONG, ...process.env },
  },
);
process.exitCode = status ?? 1;
