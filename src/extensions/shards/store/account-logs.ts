import { overPartitions, partAt } from '../../../store/lists/list';
import {
  type AccountLogReads,
  type AccountLogs,
  createAccountLogs,
  KEEP_MS,
} from '../../../store/outbox/account-log';
import { readStreamRange } from '../../../store/outbox/stream-range';
import { addressBytes } from '../../../store/records/order';
import { NO_ENTRY } from '../../../store/redis/entry-id';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import { homeOf, type ShardCount } from '../../../store/redis/tags';

export interface HomeLogsOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  /** The keys of each shard. */
  readonly shards: readonly Keys[];
}

export interface HomeLogs extends AccountLogReads {
  homeOf(address: string): number;
  /** The wallets whose logs are open, of these, whose home is one shard. */
  openedAt(home: number, addresses: readonly string[]): Promise<ReadonlySet<string>>;
}

export function groupBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/**
 * The logs of wallets on an exchange of several shards: each at the wallet's home, with the events of all shards under one
 * row of numbers (src/extensions/shards/store/log-writer.ts writes them).
 */
export function createHomeLogs({ redis, run, shards }: HomeLogsOptions): HomeLogs {
  const parts = shards.map((keys) => createAccountLogs({ redis, run, keys }));
  const count = shards.length as ShardCount;
  const homeOfWallet = (address: string): number => homeOf(addressBytes(address), count);

  const partOf = (address: string): AccountLogs => partAt(parts, homeOfWallet(address));

  /** The log also has the events between this read and its opening. */
  async function endsOfOutboxes(): Promise<(string | number)[]> {
    const extents = await Promise.all(shards.map((keys) => readStreamRange(redis, keys)));
    return extents.flatMap((extent) => [extent?.lastId ?? NO_ENTRY, extent?.added ?? 0]);
  }

  async function open(address: string): Promise<{ first: number; last: number }> {
    const keys = shards[homeOfWallet(address)] as Keys;
    const names = [keys.accountLog(addressBytes(address)), keys.accountMarks] as const;
    let [first, last] = await run('open_home_log', names, [KEEP_MS]);
    if (!first) [first, last] = await run('open_home_log', names, [KEEP_MS, ...(await endsOfOutboxes())]);
    return { first: Number(first), last: Number(last) };
  }

  return {
    homeOf: homeOfWallet,
    open,
    ends: (addresses) =>
      overPartitions(addresses, homeOfWallet, (home, own) =>
        partAt(parts, home)
          .ends(own)
          .catch(() => []),
      ),
    openedAt: (home, addresses) => partAt(parts, home).opened(addresses),
    since: (address, number, most) => partOf(address).since(address, number, most),
    gap: (address) => partOf(address).gap(address),
  };
}
