import { Redis } from 'ioredis';
import { Failure, runWorld } from './harness';
import type { Fault, Job, Outcome, Reply } from './lane';
import { type Operation, operationsOf, type World, worldOf } from './operations';
import { shrink } from './shrink';
import type { Tally } from './side-by-side';

/** The process of a lane (lane.ts): its argument is the address of its Redis, messages are jobs and results. */
const redis = new Redis(process.argv[2] ?? '');

/** Planted bugs are looked for in the same worlds, one after another. */
const known = new Map<string, readonly Operation[]>();
function drawn(world: World, count: number): readonly Operation[] {
  const name = `${world.seed} ${count}`;
  const operations = known.get(name) ?? operationsOf(world, count);
  known.set(name, operations);
  return operations;
}

async function attempt(world: World, operations: readonly Operation[], job: Job): Promise<Tally | Failure> {
  const { patches = [], realTime = false, forgetting = false } = job;
  try {
    return await runWorld(world, operations, { redis, patches, realTime, forgetting });
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

async function play(job: Job): Promise<Outcome> {
  // A submission that runs again after expiring makers has two moments, and by the clock of Redis the model learns only the
  // second one. With the script's own bound it never runs again.
  const world = { ...worldOf(job.seed), ...(job.realTime ? { staleMax: 200, makersMax: 500 } : {}) };
  const operations = drawn(world, job.operations);
  const outcome = await attempt(world, operations, job);
  if (!(outcome instanceof Failure)) return { tally: outcome };
  return { fault: job.explain ? await explained(world, operations, outcome, job) : faultOf(outcome) };
}

const faultOf = ({ at, reason, message }: Failure): Fault => ({
  at,
  check: reason.check,
  got: String(reason.got),
  message,
});

/** With the shortest list that still fails. */
async function explained(
  world: World,
  operations: readonly Operation[],
  first: Failure,
  job: Job,
): Promise<Fault> {
  const fails = async (shorter: readonly Operation[]): Promise<Failure | null> => {
    const outcome = await attempt(world, shorter, job);
    return outcome instanceof Failure ? outcome : null;
  };
  const { operations: least, failure } = await shrink(operations, first, fails);
  const lines = least.map((operation) => `  ${JSON.stringify(operation)}`).join('\n');
  const message = `SEED=${world.seed} in ${JSON.stringify(world)}\n${lines}\nfails at ${failure.message}`;
  return { ...faultOf(failure), message };
}

const send = (reply: Reply): void => void process.send?.(reply);
process.on('message', (job: Job) => {
  play(job).then(send, (error: unknown) => send({ error: String(error) }));
});
process.on('disconnect', () => process.exit());
