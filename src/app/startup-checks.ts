import type { Config } from '../config/load';
import { ConfigError, type ConfigProblem } from '../config/report';
import { weaknessOf } from '../store/health/durability';
import type { Store } from './store';

/**
 * Begins to work with the data, or rejects: the clock of Redis must be known, this program and its configuration must fit the data, and
 * Redis must be durable enough for production.
 */
export async function runStartupChecks(store: Store): Promise<void> {
  const { clock, operations } = store;
  await clock.measure();
  const problem = (await operations.startupProblem()) ?? (await weakness(store));
  if (problem !== null) {
    store.close();
    throw new ConfigError([problem]);
  }
  clock.start();
  operations.start((found) => {
    // Ends the process (process.ts): whatever it still did would be wrong.
    throw new ConfigError([found]);
  });
}

async function weakness({
  config,
  durability,
}: Pick<Store, 'durability'> & { readonly config: Config }): Promise<ConfigProblem | null> {
  const why = weaknessOf(await durability.refresh());
  if (why === null || config.nodeEnv !== 'production' || config.allowWeakDurability) return null;
  return { variable: 'REDIS_URL', given: '(hidden)', problem: `${why}, or ALLOW_WEAK_DURABILITY=1` };
}
