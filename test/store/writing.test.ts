import { Command } from 'ioredis';
import { connect, disconnect, ready } from '../../src/store/redis/connection';
import { createRandom, type Random } from '../support/random';
import { startTestRedis } from '../support/redis';
import { READY_MS } from '../support/waiting';

/** The bytes of a command, as the protocol of Redis has them. */
const SEED = 21;
const COMMANDS = 500;

function expected(name: string, args: readonly (string | Buffer)[]): Buffer {
  const parts = [name, ...args].map((part) => Buffer.from(part as string));
  const pieces = parts.flatMap((part) => [Buffer.from(`$${part.length}\r\n`), part, Buffer.from('\r\n')]);
  return Buffer.concat([Buffer.from(`*${parts.length}\r\n`), ...pieces]);
}

function randomArgument(random: Random): string | Buffer {
  const length = random.pick([0, 1, 5, 63, 300]);
  const codes = Array.from({ length }, () => random.below(256));
  const kind = random.weighted({ bytes: 4, ascii: 4, latin: 1, wide: 1 });
  if (kind === 'bytes') return Buffer.from(codes);
  if (kind === 'ascii') return String.fromCharCode(...codes.map((code) => code % 128));
  return kind === 'latin' ? String.fromCharCode(...codes) : `${'€🙂'.repeat(length % 7)}x`;
}

test('a command has the bytes of the protocol, whatever its arguments are', () => {
  const random = createRandom(SEED);
  for (let n = 0; n < COMMANDS; n++) {
    const args = Array.from({ length: random.int(1, 12) }, () => randomArgument(random));
    const { toWritable } = Command.prototype;
    const written = toWritable.call(new Command('EVALSHA', args), {});
    expect(Buffer.from(written as string).equals(expected('EVALSHA', args))).toBe(true);
  }
});

test('Redis keeps bytes and text of every kind as they are sent', async () => {
  const server = await startTestRedis();
  const redis = connect({ urls: [server.url] });
  await ready(redis, READY_MS);
  try {
    const all = Buffer.from(Array.from({ length: 256 }, (_, code) => code));
    await redis.callBuffer(
      'HSET',
      'key',
      'bytes',
      all,
      'text',
      'a€🙂é',
      'none',
      '',
      'empty',
      Buffer.alloc(0),
    );
    const told = (await redis.callBuffer('HMGET', 'key', 'bytes', 'text', 'none', 'empty')) as Buffer[];
    expect(told).toEqual([all, Buffer.from('a€🙂é'), Buffer.alloc(0), Buffer.alloc(0)]);
  } finally {
    disconnect(redis);
    await server.stop();
  }
});
