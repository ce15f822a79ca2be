import type { Keys } from './keys';
import type { RunScript } from './scripts';

/**
 * Names the run of Redis that now holds the data. A process that reads, computes and writes reads the run first, and
 * the script that writes refuses on another run, because that Redis may never have had the data that was read.
 */
export const readRun = (run: RunScript, keys: Keys): Promise<Buffer> => run('read_run', [keys.epoch], []);
