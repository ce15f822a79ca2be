import { formatMicro } from '../exchange/units';
import { type ShardKeys, shardKeys } from '../store/redis/keys';
import { readShardCount } from '../store/shards/layout';
import { type ChannelFacts, listChannels, listShards, type ShardFacts } from '../store/shards/list';
import { type CliStore, type Command, EXIT } from './store';
import { table } from './table';

/** The keys of the shards that the exchange has; while the first is silent, of as many as SHARDS says. */
async function shardsOf({ redis, keys, config }: CliStore): Promise<ShardKeys[]> {
  const count = await readShardCount(redis, keys).catch(() => config.shards);
  return Array.from({ length: count }, (_, shard) => shardKeys(shard));
}

/** Shows every shard and every channel between two of them; one that does not answer is a row. */
export const showShards: Command = async ({ store, say }) => {
  const { redis } = store;
  const shards = await shardsOf(store);
  const [rows, channels] = await Promise.all([
    listShards({ redis, shards }),
    listChannels({ redis, shards }),
  ]);
  const value = { shards: rows.map(presentShard), channels: channels.map(presentChannel) };
  await say(value, [...shardTable(rows), ...channelTable(channels)]);
  return EXIT.done;
};

const presentShard = ({ shard, tag, slot, node, silence, content }: ShardFacts) => ({
  ...{ shard, tag, slot, node, status: silence === null ? 'up' : 'down' },
  ...(silence === null ? {} : { problem: silence }),
  ...content,
});

const presentChannel = ({ from, to, inTransitMicro, isBroken }: ChannelFacts) => ({
  ...{ from, to, inTransit: formatMicro(inTransitMicro), broken: isBroken },
});

const HEADING = [
  'SHARD',
  'TAG',
  'SLOT',
  'NODE',
  'STATE',
  'MARKETS',
  'OPEN ORDERS',
  'ACCOUNTS',
  'MODE',
  'EPOCH',
];

function shardTable(rows: readonly ShardFacts[]): string[] {
  const cells = rows.map(({ shard, tag, slot, node, silence, content }) => {
    const place = [String(shard), `{${tag}}`, String(slot), node ?? 'none'];
    if (!content) return [...place, 'down', '', '', '', '', silence ?? ''];
    const { markets, openOrders, accounts, mode, epoch } = content;
    return [...place, 'up', ...[markets, openOrders, accounts].map(String), mode, epoch ?? 'none'];
  });
  return table([HEADING, ...cells]);
}

/** Nothing while no channel was used. */
function channelTable(channels: readonly ChannelFacts[]): string[] {
  if (channels.length === 0) return [];
  const rows = channels.map(({ from, to, inTransitMicro, isBroken }) => [
    `${from} to ${to}`,
    formatMicro(inTransitMicro),
    isBroken ? `BROKEN: shard ${from} lost what shard ${to} took` : 'whole',
  ]);
  return ['', ...table([['CHANNEL', 'IN TRANSIT', 'STATE'], ...rows])];
}
