import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';

export interface TestRedis {
  readonly port: number;
  /** A further connection, as another replica has one; closed by `stop`. */
  client(): Redis;
  stop(): Promise<void>;
}

const START_MAX_MS = 10_000;
const ATTEMPTS_MAX = 3;

/** A redis-server of its own on a free port, with nothing on disk. */
export async function startRedis(): Promise<TestRedis> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort());
    } catch (error) {
      // Another process may have taken the port since.
      if (attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

async function start(port: number): Promise<TestRedis> {
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  try {
    await ready(child);
  } catch (error) {
    await stop(child);
    throw error;
  }
  const clients: Redis[] = [];
  return {
    port,
    client: () => {
      const client = new Redis(port, '127.0.0.1');
      clients.push(client);
      return client;
    },
    stop: async () => {
      for (const client of clients) client.disconnect();
      await stop(child);
    },
  };
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => reject(new Error(`redis-server did not start: ${output}`)), START_MAX_MS);
    const settle = (act: () => void) => {
      clearTimeout(timer);
      act();
    };
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('Ready to accept connections')) settle(resolve);
    });
    child.once('error', (error) => settle(() => reject(error)));
    child.once('exit', (code) =>
      settle(() => reject(new Error(`redis-server ended with ${code}: ${output}`))),
    );
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
