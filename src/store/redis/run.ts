import type { ShardKeys } from './keys';
import type { RunScript } from './scripts';

/**
 * Names the run of Redis that holds the data now. Whoever reads, works something out and writes it asks before it reads, and
 * the script that writes refuses on another run: what was read there may never have been here.
 */
export const readRun = (run: RunScript, keys: ShardKeys): Promise<Buffer> =>
  run('read_run', [keys.epoch], []);
