import { startWorker } from '../src/app/worker';
import { loadConfig } from '../src/config/load';
import { createLogger } from '../src/log';
import { tellParent } from './telling';

/** A worker like `dist/worker.js`, which reports its CPU time to its parent. */
async function main(): Promise<void> {
  const config = loadConfig();
  await startWorker(config, createLogger(config, 'worker'));
  tellParent({ port: 0 });
}

void main();
