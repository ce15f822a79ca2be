import { createHash } from 'node:crypto';
import { Refusal } from '../../../../src/exchange/errors';
import type { OutcomeIndex } from '../../../../src/exchange/market';
import type { Side } from '../../../../src/exchange/match';
import { chainScale } from '../../../../src/exchange/order';
import { lots, micro, pips } from '../../../../src/exchange/units';
import { type Channels, createChannels } from '../../../../src/extensions/shards/store/channels';
import { checkChannels } from '../../../../src/extensions/shards/store/check-channels';
import { createShards } from '../../../../src/extensions/shards/store/engine';
import { createTransfers } from '../../../../src/extensions/shards/store/transfers';
import type { ArchivedReads } from '../../../../src/store/lists/archived-reads';
import { addressBytes } from '../../../../src/store/records/order';
import { connect, disconnect, ready } from '../../../../src/store/redis/connection';
import { createKeys, type Keys } from '../../../../src/store/redis/keys';
import {
  createScripts,
  type RedisClient,
  type RunScript,
  scriptSources,
} from '../../../../src/store/redis/scripts';
import { homeOf, type ShardCount } from '../../../../src/store/redis/tags';
import type { PlaceRequest } from '../../../../src/store/verbs/place';
import { signedAs } from '../../../store/fuzzing/requests';
import { createAudit } from '../../../support/audit';
import { READY_MS } from '../../../support/waiting';

/** An exchange of several shards, on one Redis or on a cluster. */
export interface ShardWorldOptions {
  readonly urls: readonly string[];
  readonly count: ShardCount;
  readonly grantMicro?: number;
  /** The scripts, with bugs planted. */
  readonly sources?: ReadonlyMap<string, string>;
  /** Stands between the scripts and Redis. */
  readonly under?: (redis: RedisClient) => RedisClient;
  /** Stands between the purse and its channels. */
  readonly around?: (channels: Channels) => Channels;
  /** Called after each script. */
  readonly afterScript?: (redis: RedisClient) => Promise<void>;
  /** The orders that left a shard; without it none did. */
  readonly pastOf?: (redis: RedisClient, keys: Keys, shard: number) => ArchivedReads;
  /** Joins an exchange that another process has opened. */
  readonly isOpen?: boolean;
}

export const GRANT = 100_000_000;
let serial = 0;

export type ShardWorld = Awaited<ReturnType<typeof openShardWorld>>;

/** Empties the Redis, unless it is open. Market m<k> is in shard k. */
export async function openShardWorld(options: ShardWorldOptions) {
  const { urls, count, grantMicro = GRANT, sources = scriptSources(), around = (same) => same } = options;
  const redis = connect({ urls });
  await ready(redis, READY_MS);
  const masters = 'nodes' in redis ? redis.nodes('master') : [redis];
  if (!options.isOpen) for (const master of masters) await master.flushall();
  const scripts = createScripts(options.under?.(redis) ?? redis, sources);
  const run: RunScript = async (name, keys, args) => {
    const reply = await scripts(name, keys, args);
    await options.afterScript?.(redis);
    return reply;
  };
  const shards = Array.from({ length: count }, (_, k) => createKeys(k));
  const channels = createChannels({ redis, run, shards });
  const ids = shards.map((_, k) => `market${String(k).padStart(2, '0')}`);
  const shardOf = async (id: string): Promise<number> => {
    if (!ids.includes(id)) throw new Refusal('MARKET_NOT_FOUND');
    return ids.indexOf(id);
  };
  const grant = micro(grantMicro);
  const exchange = createShards({
    redis,
    run,
    shards,
    shardOf,
    grantMicro: grant,
    makersMax: 500,
    ...(options.pastOf && {
      archivedByShard: shards.map((keys, k) => options.pastOf?.(redis, keys, k) as ArchivedReads),
    }),
    channels: around(channels),
  });
  for (const id of options.isOpen ? [] : ids)
    await exchange.createMarket({ id, conditionId: `0x${id}`, slug: `slug-${id}` }, '{}', 'OPEN');

  /** An order of whole shares; each is a new one. */
  function order(
    shard: number,
    maker: string,
    side: Side,
    outcome: OutcomeIndex,
    pricePips: number,
    sizeLots: number,
    more: Partial<PlaceRequest> = {},
  ): PlaceRequest {
    const signed = signedAs(`shards ${process.pid} ${serial++}`, more.nonce ?? 0);
    return {
      marketId: ids[shard] ?? '',
      orderHash: `0x${createHash('sha256').update(signed).digest('hex')}`,
      maker,
      order: {
        side,
        outcome,
        pricePips: pips(pricePips),
        sizeLots: lots(sizeLots),
        budgetMicro: micro(0),
      },
      orderType: 'GTC',
      selfTradePrevention: 'NONE',
      expirationSec: 0,
      nonce: 0,
      feeRateBps: 0,
      lotLots: lots(1),
      deadlineMs: 0,
      clientOrderId: null,
      signed,
      dryRun: false,
      ...more,
    };
  }
  /** Reserves `units` of collateral in a shard: that number of shares at 0.5, twice. */
  const reserve = (shard: number, maker: string, units: number): Promise<unknown> =>
    exchange.place(order(shard, maker, 0, 0, 5_000, units * 200));

  const differences = () => differencesOf({ redis, run, shards });
  const inTransit = async (): Promise<bigint> => (await checkChannels({ redis, shards })).inTransitMicro;
  const transfers = createTransfers({ redis, channels, shards, olderThanMs: 0 });

  return {
    redis,
    run,
    shards,
    channels,
    exchange,
    ids,
    order,
    reserve,
    differences,
    inTransit,
    transfers,
    homeOf: (address: string): number => homeOf(addressBytes(address), count),
    stop: () => disconnect(redis),
  };
}

interface Audited {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly shards: readonly Keys[];
}

/** Every audit: of each shard by itself, and of the channels. Each text is a difference. */
export async function differencesOf({ redis, run, shards }: Audited): Promise<string[]> {
  const found: string[] = [];
  const scale = chainScale(18);
  for (const [k, keys] of shards.entries()) {
    const report = await createAudit({ redis, run, keys, scale, settlementGraceMs: 3_600_000 })();
    found.push(
      ...report.differences
        .filter(({ kind }) => !IGNORED.has(kind))
        .map(
          (one) => `shard ${k}: ${one.kind} ${one.wallet ?? ''} ${one.expected} ${one.found} ${one.detail}`,
        ),
    );
  }
  const { differences: between } = await checkChannels({ redis, shards });
  found.push(...between.map(({ kind, name, wallet, detail }) => `${kind} ${name ?? wallet} ${detail}`));
  return found;
}

/** The journal runs in a process of its own, and these markets have no documents. */
const IGNORED = new Set(['POSITION', 'DOCUMENT', 'NAME', 'AGENDA', 'SETTLEMENT_MISSING']);

/** Wallets with a given home among a number of shards. */
export function walletWithHome(home: number, count: ShardCount, skip = 0): string {
  let left = skip;
  for (let i = 1; ; i++) {
    const address = `0x${i.toString(16).padStart(40, '0')}`;
    if (homeOf(addressBytes(address), count) === home && left-- === 0) return address;
  }
}
