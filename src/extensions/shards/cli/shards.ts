import { recorded } from '../../../cli/action';
import { type CliStore, type Command, EXIT } from '../../../cli/store';
import { table } from '../../../cli/table';
import { formatMicro } from '../../../exchange/units';
import { createKeys, type Keys } from '../../../store/redis/keys';
import { checkGrowth, growShards } from '../store/grow';
import { endHalt, halt } from '../store/halting';
import { type NotedShards, readShards } from '../store/layout';
import { type ChannelFacts, listChannels, listShards, type ShardFacts } from '../store/list';

const keysOf = (count: number): Keys[] => Array.from({ length: count }, (_, shard) => createKeys(shard));

/** The shards that the exchange has; while the first is silent, as many as SHARDS says. */
async function notedShards({ redis, keys, config }: CliStore): Promise<NotedShards> {
  return readShards(redis, keys).catch(() => ({ count: config.shards, growing: null }));
}

/** Shows every shard and every channel between two of them; one that does not answer is a row. */
export const showShards: Command = async ({ store, say }) => {
  const { redis } = store;
  const { count, growing } = await notedShards(store);
  const shards = keysOf(count);
  const [rows, channels] = await Promise.all([
    listShards({ redis, shards }),
    listChannels({ redis, shards }),
  ]);
  const value = { growing, shards: rows.map(presentShard), channels: channels.map(presentChannel) };
  const unfinished =
    growing === null
      ? []
      : [`it is getting ${growing} shards; end that with: exchange shards grow --to ${growing}`];
  await say(value, [...shardTable(rows), ...channelTable(channels), ...unfinished]);
  return EXIT.done;
};

const presentShard = ({ shard, tag, slot, node, silence, content }: ShardFacts) => ({
  shard,
  tag,
  slot,
  node,
  status: silence === null ? 'up' : 'down',
  ...(silence === null ? {} : { problem: silence }),
  ...content,
});

const presentChannel = ({ from, to, inTransitMicro, isBroken }: ChannelFacts) => ({
  from,
  to,
  inTransit: formatMicro(inTransitMicro),
  broken: isBroken,
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

/**
 * Gives the exchange more shards. With `isHalting` it is HALTED for as long as that takes, and then has its mode again, also when
 * another run of the command ends it.
 */
export const growExchange =
  (to: number, isHalting: boolean): Command =>
  async ({ store, say }) => {
    const { redis, run, keys } = store;
    const options = { redis, run };
    const doing = { action: 'shards grow', path: 'exchange shards grow', body: { to, halt: isHalting } };
    const { report, mode } = await recorded(store, doing, async () => {
      const { count, growing } = await readShards(redis, keys);
      if (isHalting && count !== to) {
        // An exchange that may not grow goes on trading; a growth that was interrupted has been asked before.
        if (growing === null) await checkGrowth({ redis, shards: keysOf(to) }, count);
        await halt({ ...options, shards: keysOf(count) });
      }
      try {
        const grown = await growShards({ ...options, shards: keysOf(to) });
        return { report: grown, mode: await endHalt({ ...options, shards: keysOf(to) }) };
      } catch (error) {
        // A growth that has begun keeps the exchange HALTED until it has ended.
        const now = await readShards(redis, keys);
        if (now.growing === null && now.count === count) await endHalt({ ...options, shards: keysOf(count) });
        throw error;
      }
    });
    const { from, moved } = report;
    await say({ ...report, mode: mode?.mode ?? null }, [
      from === to
        ? `the exchange has ${to} shards`
        : `the exchange has ${to} shards: ${moved} wallets have a new home; start web and worker with SHARDS=${to}`,
      ...(mode ? [`the mode is ${mode.mode}`] : []),
    ]);
    return EXIT.done;
  };
