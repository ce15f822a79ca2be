import { connect, type Socket } from 'node:net';
import { micro } from '../src/exchange/units';
import { createScripts, type RedisClient } from '../src/store/redis/scripts';
import { createEngine } from '../src/store/verbs/engine';
import type { PlaceRequest } from '../src/store/verbs/place';

/**
 * Places orders as fast as Redis accepts them: the commands of the engine, written to a separate socket that reads no
 * replies, so that a million fit into a run. Redis must already know the scripts.
 */
export async function createFiller(redis: RedisClient): Promise<Filler> {
  const { host = '127.0.0.1', port = 6379 } = redis.options as { host?: string; port?: number };
  const socket = connect(port, host).setNoDelay(true);
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let pending: Buffer<ArrayBuffer>[] = [];
  const silent = {
    callBuffer: async (...args: unknown[]) => {
      pending.push(command(args as (string | number | Buffer)[]));
      return SILENT_REPLY;
    },
  } as unknown as RedisClient;
  const engine = createEngine({ run: createScripts(silent), grantMicro: micro(1e14), makersMax: 1000 });
  return {
    async place(requests) {
      for (const request of requests) await engine.place(request);
      const batch = Buffer.concat(pending);
      pending = [];
      socket.write(command(['CLIENT', 'REPLY', 'OFF']));
      socket.write(batch);
      await answered(socket, command(['CLIENT', 'REPLY', 'ON']));
    },
    stop: () => socket.destroy(),
  };
}

export interface Filler {
  place(requests: readonly PlaceRequest[]): Promise<void>;
  stop(): void;
}

/** Pretends that the script answered an open order, because no reply is read. */
const SILENT_REPLY = Buffer.alloc(64);

function command(args: readonly (string | number | Buffer)[]): Buffer<ArrayBuffer> {
  const parts: Uint8Array[] = [Buffer.from(`*${args.length}\r\n`)];
  for (const arg of args) {
    const bytes = Buffer.isBuffer(arg) ? arg : Buffer.from(String(arg));
    parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n'));
  }
  return Buffer.concat(parts);
}

function answered(socket: Socket, last: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (reply: Buffer | Error) => {
      socket.off('data', settle).off('error', settle);
      reply instanceof Error ? reject(reply) : resolve();
    };
    socket.on('data', settle).on('error', settle);
    socket.write(last);
  });
}
