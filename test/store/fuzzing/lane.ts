import { fork } from 'node:child_process';
import path from 'node:path';
import { ownChild } from '../../support/leftovers';
import { startTestRedis } from '../../support/redis';
import type { Patch } from './scripts';
import type { Tally } from './side-by-side';

/** A world to be played. */
export interface Job {
  readonly seed: number;
  /** The number of operations. */
  readonly operations: number;
  /** Bugs planted in the scripts. */
  readonly patches?: readonly Patch[];
  /** By the clock of Redis. */
  readonly realTime?: boolean;
  /** Everything that is over leaves Redis for an archive, with 'late' before the archive has it. */
  readonly forgetting?: boolean | 'late';
  /** Looks for the shortest list of operations that still fails. */
  readonly explain?: boolean;
}

export interface Fault {
  /** The operation at which it was found, and the comparison that found it. */
  readonly at: number;
  readonly check: string;
  readonly got: string;
  readonly message: string;
}

export type Outcome = { readonly tally: Tally } | { readonly fault: Fault };

/** The message of a lane's process: an outcome, or the reason why there is none. */
export type Reply = Outcome | { readonly error: string };

export interface Lane {
  /** One job at a time. */
  play(job: Job): Promise<Outcome>;
  stop(): Promise<void>;
}

const PROGRAM = path.join(__dirname, 'lane-program.ts');
const TYPESCRIPT = path.join(__dirname, '..', '..', 'support', 'typescript.js');

/** A process that plays worlds on its own Redis, beside other lanes and on another processor. */
export async function startLane(): Promise<Lane> {
  const server = await startTestRedis();
  const child = ownChild(
    fork(PROGRAM, [server.url], { execArgv: ['-r', TYPESCRIPT], serialization: 'advanced' }),
  );
  const exited = new Promise<never>((_, reject) => {
    child.once('exit', (code, signal) => reject(new Error(`a lane has ended: ${signal ?? code}`)));
  });
  exited.catch(() => undefined);
  return {
    async play(job) {
      const replied = new Promise<Reply>((resolve) => {
        child.once('message', (reply) => resolve(reply as Reply));
      });
      child.send(job);
      const reply = await Promise.race([replied, exited]);
      if ('error' in reply) throw new Error(reply.error);
      return reply;
    },
    async stop() {
      child.kill('SIGKILL');
      await exited.catch(() => undefined);
      await server.stop();
    },
  };
}
