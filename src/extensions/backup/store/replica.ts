import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../../exchange/errors';
import { infoOf } from '../../../store/health/info';
import { connect, disconnect, ready } from '../../../store/redis/connection';
import { holderOf } from '../../../store/redis/holder';
import type { Keys } from '../../../store/redis/keys';
import { createScripts } from '../../../store/redis/scripts';
import { type BackupOptions, writeCopy } from './backup';

interface Replica {
  readonly url: string;
  /** PEM, for rediss://. */
  readonly tlsCa: string | null;
}

const CONNECT_MS = 3_000;
/** The time that a replica has for its first copy. */
const FOLLOW_MS_MAX = 600_000;
const POLL_MS = 200;

/**
 * Copies a replica that was started for this, while the exchange trades on. The replica stops following its primary for good, so its data
 * is that of one moment. The exchange has one shard. Throws a Refusal for a server that is no replica of it.
 */
export async function copyReplica(
  options: BackupOptions,
  { url, tlsCa }: Replica,
  file: string,
): ReturnType<typeof writeCopy> {
  const keys = options.shards[0]?.keys as Keys;
  const redis = connect({ urls: [url], tlsCa });
  try {
    await ready(redis, CONNECT_MS).catch((error: Error) => {
      throw new Refusal('UNAVAILABLE', `the replica cannot be reached: ${error.message}`);
    });
    const server = holderOf(redis, keys);
    const untilMs = performance.now() + FOLLOW_MS_MAX;
    for (;;) {
      const info = await infoOf(server);
      if (info.get('role') !== 'slave')
        throw new Refusal(
          'INVALID_REQUEST',
          'the server of --replica is no replica: start it with --replicaof',
        );
      if (info.get('master_link_status') === 'up' && info.get('master_sync_in_progress') === '0') {
        // A primary has a new id from its first replica on.
        const primary = await infoOf(holderOf(options.redis, keys));
        if (info.get('master_replid') === primary.get('master_replid')) break;
        throw new Refusal(
          'INVALID_REQUEST',
          'the replica does not follow the Redis of REDIS_URL: name one that does',
        );
      }
      if (performance.now() > untilMs)
        throw new Refusal('UNAVAILABLE', 'the replica has no whole copy yet: try again when it has');
      await sleep(POLL_MS);
    }
    await server.call('REPLICAOF', 'NO', 'ONE');
    return await writeCopy({ ...options, redis, run: createScripts(redis) }, file);
  } finally {
    disconnect(redis);
  }
}
