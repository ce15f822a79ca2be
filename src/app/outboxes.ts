import type { Logger } from '../log';
import type { Outbox } from '../realtime/outboxes';
import type { AccountLogReads } from '../store/outbox/account-log';
import type { RedisClient, RunScript } from '../store/redis/scripts';
import { createHomeLogs } from '../store/shards/account-logs';
import { createHomeMarks } from '../store/shards/home-marks';
import { createShardLogWriter } from '../store/shards/log-writer';
import type { ShardParts } from './shards';

interface OutboxesOf {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly shards: readonly (Pick<
    ShardParts,
    'keys' | 'broadcasts' | 'presence' | 'accounts' | 'reads' | 'standings'
  > &
    Pick<Outbox, 'engine'>)[];
}

/** The outboxes of all shards, and the logs of wallets: with several shards each log is at the home of its wallet. */
export function openOutboxes(
  { redis, run, shards }: OutboxesOf,
  log: Logger,
): { readonly outboxes: readonly Outbox[]; readonly accounts: AccountLogReads } {
  const outboxes = shards.map((part) => ({
    ...part,
    records: part.reads.records,
    logs: part.accounts,
    saw: part.standings.saw,
  }));
  const [only] = outboxes;
  if (only && outboxes.length === 1) return { outboxes, accounts: only.accounts };
  const keys = shards.map((part) => part.keys);
  const accounts = createHomeLogs({ redis, run, shards: keys });
  const marks = createHomeMarks({ redis, shards: keys });
  const writerOf = (source: number) =>
    createShardLogWriter({
      redis,
      run,
      shards: keys,
      source,
      logs: accounts,
      marks,
      onError: (error) => log.warn({ err: error.message, source }, 'the logs of some wallets wait'),
    });
  return { accounts, outboxes: outboxes.map((part, source) => ({ ...part, logs: writerOf(source) })) };
}
