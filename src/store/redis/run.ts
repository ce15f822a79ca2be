import type { ShardKeys } from './keys';
import type { RunScript } from './scripts';

/**
 * Names the run of Redis that holds the data now. A process that reads, computes and writes reads the run first, and
 * the script that writes refuses on another run: the data may never have been on this one.
 */
export const readRun = (run: RunScript, keys: ShardKeys): Promise<Buffer> =>
  run('read_run', [keys.epoch], []);
