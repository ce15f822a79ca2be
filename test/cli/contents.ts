import { Redis } from 'ioredis';

/** They change while nothing trades: the operators' log, the name of the history, the times of backups, the leases, and what readers note. */
const RESTLESS = /:(epoch|runs|alr?|lease|relay|readers|pr|away)$/;

/** Every key of an exchange of one or several shards with its content, independent of Redis' encoding. */
export async function contents(url: string): Promise<Record<string, unknown>> {
  const redis = new Redis(url);
  const found: Record<string, unknown> = {};
  const read = async (...words: (string | Buffer)[]): Promise<string[]> => {
    const [command = '', ...args] = words;
    return ((await redis.callBuffer(String(command), ...args)) as Buffer[]).map((bytes) =>
      bytes.toString('hex'),
    );
  };
  const pairs = (flat: readonly string[]): string[] =>
    flat.flatMap((field, i) => (i % 2 === 0 ? [`${field} ${flat[i + 1]}`] : [])).sort();
  try {
    for (const key of (await redis.keysBuffer('{x*}:*')).sort(Buffer.compare)) {
      const name = key.toString('latin1');
      if (RESTLESS.test(name)) continue;
      const type = await redis.type(key);
      if (type === 'hash') found[name] = pairs(await read('HGETALL', key));
      else if (type === 'zset') found[name] = await read('ZRANGE', key, '0', '-1', 'WITHSCORES');
      else if (type === 'set') found[name] = (await read('SMEMBERS', key)).sort();
      else if (type === 'list') found[name] = await read('LRANGE', key, '0', '-1');
      else if (type === 'string') found[name] = (await redis.getBuffer(key))?.toString('hex');
      else {
        const info = (await redis.call('XINFO', 'STREAM', key)) as unknown[];
        const ends = ['length', 'last-generated-id', 'entries-added'].map(
          (what) => info[info.indexOf(what) + 1],
        );
        const entries = await redis.xrangeBuffer(key, '-', '+');
        found[name] = [
          ends,
          entries.map(([id, fields]) => [String(id), ...fields.map((one) => one.toString('hex'))]),
        ];
      }
    }
    return found;
  } finally {
    redis.disconnect();
  }
}
