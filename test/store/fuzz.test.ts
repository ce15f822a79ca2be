import { Redis } from 'ioredis';
import { startTestRedis } from '../support/redis';
import { operationsOf, worldOf, type Operation } from './fuzzing/operations';
import { Failure, runWorld } from './fuzzing/harness';
import { shrink } from './fuzzing/shrink';

test('try', async () => {
  const server = await startTestRedis();
  const redis = new Redis(server.url);
  try {
    for (let seed = 0; seed < Number(process.env.N ?? 1); seed++) {
      const world = worldOf(Number(process.env.SEED ?? 0) + seed);
      const t = Date.now();
      const ops = operationsOf(world, 2500);
      try {
      const tally = await runWorld(world, ops, { redis });
      process.stdout.write(`${seed} ${Date.now() - t} ms ${JSON.stringify([...tally])}\n`);
      } catch (e) { 
        if (!(e instanceof Failure)) throw e;
        process.stdout.write(`${seed} ${JSON.stringify(world)} ${(e as Error).message.slice(0,600)}\n`);
        const s = await shrink(ops, e, async (o: readonly Operation[]) => { try { await runWorld(world, o, { redis }); return null; } catch (e) { if (!(e instanceof Failure)) throw e; return e; } });
        process.stdout.write(`${s.operations.map((o) => JSON.stringify(o)).join('\n')}\n${s.failure.message}\n`);
      }
    }
  } finally {
    redis.disconnect();
    await server.stop();
  }
}, 600_000);
