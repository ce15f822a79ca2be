import type { RunningRedis } from '../../../src/local/redis';
import { startTestRedis } from '../../support/redis';
import { openWorld, type World, type WorldOptions } from '../../support/world';

/** One Redis for the file, an empty world for each test; `world()` is the test's. */
export function withWorlds(options: Omit<WorldOptions, 'urls'> = {}): {
  world: () => World;
  redis: () => RunningRedis;
} {
  let server: RunningRedis | null = null;
  let current: World | null = null;
  beforeAll(async () => {
    server = await startTestRedis();
  });
  beforeEach(async () => {
    current = await openWorld({ ...options, urls: [server?.url ?? ''] });
  });
  afterEach(() => current?.stop());
  afterAll(async () => server?.stop());
  const present = <T>(value: T | null): T => {
    if (value === null) throw new Error('nothing before beforeAll');
    return value;
  };
  return { world: () => present(current), redis: () => present(server) };
}
