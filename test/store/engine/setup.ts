import type { RunningRedis } from '../../../src/local/redis';
import { type EngineWorld, type EngineWorldOptions, openEngineWorld } from '../../support/engine-world';
import { startTestRedis } from '../../support/redis';

/** One Redis for the file, an empty world for each test; `world()` returns it. */
export function withWorlds(options: Omit<EngineWorldOptions, 'urls'> = {}): {
  world: () => EngineWorld;
  redis: () => RunningRedis;
} {
  let server: RunningRedis | null = null;
  let current: EngineWorld | null = null;
  beforeAll(async () => {
    server = await startTestRedis();
  });
  beforeEach(async () => {
    current = await openEngineWorld({ ...options, urls: [server?.url ?? ''] });
  });
  afterEach(() => current?.stop());
  afterAll(async () => server?.stop());
  const present = <T>(value: T | null): T => {
    if (value === null) throw new Error('nothing before beforeAll');
    return value;
  };
  return { world: () => present(current), redis: () => present(server) };
}
