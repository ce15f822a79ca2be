import { startWorker } from '../src/app/app';
import { loadConfig } from '../src/config/load';
import { createLogger } from '../src/log';
import { tellParent } from './telling';

/** A worker as `dist/worker.js` is, telling its parent what it has taken. */
async function main(): Promise<void> {
  const config = loadConfig();
  await startWorker(config, createLogger(config, 'worker'));
  tellParent({ port: 0 });
}

void main();
