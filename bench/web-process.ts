import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { type Backend, loadRecovery } from '../src/auth/recovery';
import type { MemoryOf, Question } from './telling';

/** A server in a separate process, which reports its CPU time. */
export interface Side {
  readonly child: ChildProcess;
  readonly port: number;
  readonly agent: Agent;
}

const ADMIN_TOKEN = randomBytes(24).toString('hex');
const JWT_SECRET = randomBytes(32).toString('hex');
const CONNECTIONS = 16;

/** The verification that a web process chooses on this machine. */
export const FASTEST = loadRecovery().backend;

/** Forks a program of this folder, or of that of another tree, which reports its port when it listens. */
export async function startSide(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  connections = CONNECTIONS,
  flags: readonly string[] = [],
): Promise<Side> {
  const file = path.resolve(__dirname, program);
  const child = fork(file, args, {
    execArgv: [...flags, '-r', path.join(path.dirname(file), '../test/support/typescript.js')],
    serialization: 'advanced',
    env,
  });
  const { port } = await message<{ port: number }>(child);
  return { child, port, agent: new Agent({ keepAlive: true, maxSockets: connections }) };
}

/** Everything real: production settings, rate limits off, rich wallets. */
const environment = (redisUrl: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  NODE_ENV: 'production',
  REDIS_URL: redisUrl,
  PORT: '0',
  PUBLIC_BASE_URL: 'http://localhost',
  ADMIN_TOKEN,
  JWT_SECRET,
  RATE_LIMIT: 'off',
  ALLOW_WEAK_DURABILITY: '1',
  PAPER_GRANT: '1000000',
  LOG_LEVEL: 'warn',
  ...more,
});

export const startWeb = (
  backend: Backend,
  redisUrl: string,
  connections?: number,
  flags?: readonly string[],
  more?: NodeJS.ProcessEnv,
): Promise<Side> => startSide('web.ts', [backend], environment(redisUrl, more), connections, flags);

/** The web process of a tree, with a verification that all trees have. */
export const startWebOf = (tree: string, redisUrl: string): Promise<Side> =>
  startSide(path.join(tree, 'bench/web.ts'), ['secp256k1'], environment(redisUrl));

/** It does not listen; only its CPU time and memory are read. */
export const startWorker = (
  redisUrl: string,
  flags?: readonly string[],
  more?: NodeJS.ProcessEnv,
): Promise<Side> => startSide('worker.ts', [], environment(redisUrl, more), 1, flags);

export function stopSides(sides: readonly Side[]): void {
  for (const { child, agent } of sides) {
    agent.destroy();
    child.disconnect();
  }
}

/** The next message of a child; rejects when it ends first. */
export function message<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`the process ended with ${code}`));
    child.once('exit', onExit);
    child.once('message', (value) => {
      child.off('exit', onExit);
      resolve(value as T);
    });
  });
}

function ask<T>({ child }: Side, question: Question): Promise<T> {
  const answer = message<T>(child);
  child.send(question);
  return answer;
}

export const cpuMicros = async (side: Side): Promise<number> =>
  (await ask<{ cpuMicros: number }>(side, 'cpu')).cpuMicros;

export const memoryOf = (side: Side): Promise<MemoryOf> => ask(side, 'memory');

/** Admin routes get the admin's token; others the given one. */
export function call(
  side: Pick<Side, 'port' | 'agent'>,
  method: string,
  target: string,
  body?: string,
  token = target.startsWith('/admin') ? ADMIN_TOKEN : undefined,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port: side.port,
        agent: side.agent,
        method,
        path: target,
        headers: {
          'content-type': 'application/json',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
      },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
