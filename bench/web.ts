import { startWeb } from '../src/app';
import type { Backend } from '../src/auth/recovery';
import { loadConfig } from '../src/config';
import { createLogger } from '../src/log';

/**
 * A web process as `dist/web.js` is, but told by its parent which verification to use, and telling what CPU time it
 * has taken. Its parent forks it with the configuration in its environment.
 */
async function main(backend: Backend): Promise<void> {
  const config = loadConfig();
  const web = await startWeb(config, createLogger(config, 'web'), { backend });
  process.on('message', () => process.send?.({ cpuMicros: cpuMicros() }));
  process.on('disconnect', () => process.exit(0));
  process.send?.({ port: web.port });
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

void main(process.argv[2] as Backend);
