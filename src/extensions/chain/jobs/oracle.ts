import { runEach } from '../../../jobs/run-each';
import type { Chore } from '../../../jobs/schedule';

const SERVE_EVERY_MS = 500;

/** Something that the worker does on the chain by itself, with the oracle's key where it has one. */
export type OracleTask = readonly [name: string, run: () => Promise<void>];

/**
 * All that uses the oracle's key, in turn and in one worker at a time: two would use the same nonces. When a stalled worker
 * and its successor overlap, one of two transactions with the same nonce runs, and the other one is planned again.
 */
export const createServeOracle = (tasks: readonly OracleTask[]): Chore => ({
  name: 'serve-oracle',
  everyMs: SERVE_EVERY_MS,
  run: () =>
    runEach(
      tasks,
      ([name]) => name,
      ([, run]) => run(),
    ),
});
