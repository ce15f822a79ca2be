import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checksumAddress } from '../../../../src/auth/address';
import type { Sessions } from '../../../../src/auth/sessions';
import { loadConfig } from '../../../../src/config/load';
import { chainScale } from '../../../../src/exchange/order';
import { micro } from '../../../../src/exchange/units';
import { broadcastsOverShards } from '../../../../src/extensions/shards/store/broadcasts';
import { createDirectory, partOf } from '../../../../src/extensions/shards/store/directory';
import { durabilityOverShards } from '../../../../src/extensions/shards/store/durability';
import { openHomeLogs } from '../../../../src/extensions/shards/store/log-writer';
import { noPace } from '../../../../src/http/guard/request-pacing';
import { createLogger } from '../../../../src/log';
import { createRealtime } from '../../../../src/realtime/realtime';
import { runProbe } from '../../../../src/store/health/health';
import { NO_ARCHIVE } from '../../../../src/store/lists/archived-reads';
import { openPartition, type Partition } from '../../../../src/store/partition';
import type { Reads } from '../../../../src/store/reads/reads';
import { createClock } from '../../../../src/store/redis/clock';
import { connect, disconnect, ready } from '../../../../src/store/redis/connection';
import { createKeys } from '../../../../src/store/redis/keys';
import { createScripts } from '../../../../src/store/redis/scripts';
import type { ShardCount } from '../../../../src/store/redis/tags';
import { READERS } from '../../../support/readers';
import { ENVIRONMENT } from '../../../support/settings';
import { READY_MS } from '../../../support/waiting';

export const COUNT: ShardCount = 4;
/** In each shard. */
const GRANT = micro(1_000_000_000_000);

/** The shards of an exchange on the Redis of a test. */
export async function openShards(url: string, logged: string[] = []) {
  const config = loadConfig({ ...ENVIRONMENT, LOG_LEVEL: 'debug', REDIS_URL: url });
  const log = createLogger(config, 'web', { write: (line: string) => logged.push(line) });
  const redis = connect({ urls: url.split(',') });
  await ready(redis, READY_MS);
  const run = createScripts(redis);
  const clock = createClock(() => runProbe(run, createKeys()));
  await clock.measure();
  const shared = {
    config,
    redis,
    run,
    clock,
    scale: chainScale(18),
    checksum: checksumAddress,
    grantMicro: GRANT,
    archive: NO_ARCHIVE,
    readers: READERS,
    auditChecks: [],
    count: COUNT,
    placing: null,
    ctfIds: (_: string, questionId: string) => ({ conditionId: questionId, tokenIds: ['1', '2'] as const }),
    defaultOracle: config.exchangeAddress,
    resolveDelayMs: 0,
  };
  const partitions = Array.from({ length: COUNT }, (_, number) =>
    openPartition({ ...shared, number, keys: createKeys(number) }),
  );
  const { accounts, writers } = openHomeLogs({
    redis,
    run,
    shards: partitions.map(({ keys }) => keys),
    onError: (error, source) => log.warn({ err: error.message, source }, 'the logs of some wallets wait'),
  });
  const shards = partitions.map(
    (partition, k): Partition => ({
      ...partition,
      accountLogs: writers[k] ?? partition.accountLogs,
    }),
  );
  const directory = createDirectory({ redis, keys: createKeys(0), count: COUNT });
  return { config, log, redis, run, clock, shards, accounts, directory };
}

type Shards = Awaited<ReturnType<typeof openShards>>;

/** The reads that real time needs: those of a market at its shard, those of a wallet added up. */
function readsOf({ shards, directory }: Pick<Shards, 'shards' | 'directory'>): Reads {
  const [first] = shards;
  if (!first) throw new Error('no shard');
  const of = async (id: string) => (await partOf(directory, shards, id)).reads;
  const all = <T>(read: (reads: Reads) => Promise<T>): Promise<T[]> =>
    Promise.all(shards.map(({ reads }) => read(reads)));
  return {
    ...first.reads,
    market: async (name) => (await all((reads) => reads.market(name))).find((market) => market) ?? null,
    view: async (id) => (await of(id)).view(id),
    shownFills: async (record, fills) => (await of(record.marketId)).shownFills(record, fills),
    records: async (hashes) => new Map((await all((reads) => reads.records(hashes))).flatMap((m) => [...m])),
    async balances(address) {
      const found = await all((reads) => reads.balances(address));
      return {
        freeMicro: micro(found.reduce((sum, { freeMicro }) => sum + freeMicro, 0)),
        reservedMicro: micro(found.reduce((sum, { reservedMicro }) => sum + reservedMicro, 0)),
        tokens: found.flatMap(({ tokens }) => tokens),
      };
    },
  };
}

/** A token is the address of its wallet: this test is not about signing in. */
const authenticate: Sessions['authenticate'] = async (token) => ({
  address: String(token),
  sid: `session of ${token}`,
  issuedAt: new Date(0).toISOString(),
  expiresAt: null,
  scopes: null,
});

export type ShardWeb = Awaited<ReturnType<typeof startShardWeb>>;

/** The real time of a web process over four shards. */
export async function startShardWeb(url: string, logged: string[] = []) {
  const opened = await openShards(url, logged);
  const { config, log, redis, shards, accounts, directory, clock } = opened;
  const durability = durabilityOverShards(shards.map((shard) => shard.durability));
  await durability.refresh();
  const realtime = createRealtime({
    config,
    log,
    durability,
    partitions: shards,
    accounts,
    broadcasts: broadcastsOverShards(
      directory,
      shards.map((shard) => shard.broadcasts),
    ),
    reads: readsOf(opened),
    history: {
      ...(shards[0] as (typeof shards)[number]).history,
      day: async (id, ...asked) => (await partOf(directory, shards, id)).history.day(id, ...asked),
    },
    sessions: { authenticate } as Sessions,
    isLive: async () => true,
  });
  durability.onEpoch(realtime.newEpoch);
  durability.start();
  const server = createServer();
  realtime.attach(server, { addressOf: () => '127.0.0.1', pace: noPace }, async () => {
    throw new Error('no orders here');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  realtime.start();
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    durability,
    held: () => realtime.stats().broadcasting,
    async stop(): Promise<void> {
      await realtime.stop(1_000);
      durability.stop();
      clock.stop();
      server.closeAllConnections();
      server.close();
      disconnect(redis);
    },
  };
}

/** As a program: it says its port, and how many leases it has. */
export async function main(): Promise<void> {
  const web = await startShardWeb(process.env.REDIS_URL ?? '');
  process.stdout.write(`{"port":${web.port}}\n`);
  setInterval(() => process.stdout.write(`held ${web.held()}\n`), 100);
}
