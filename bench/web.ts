import { startWeb } from '../src/app/web';
import type { Backend } from '../src/auth/recovery';
import { loadConfig } from '../src/config/load';
import { createLogger } from '../src/log';
import { tellParent } from './telling';

/**
 * A web process like `dist/web.js`. Its parent chooses the verification and reads its CPU time; it forks the process with the
 * configuration in its environment.
 */
async function main(backend: Backend): Promise<void> {
  const config = loadConfig();
  const { port } = await startWeb(config, createLogger(config, 'web'), { backend });
  tellParent({ port });
}

void main(process.argv[2] as Backend);
