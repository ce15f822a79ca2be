import { recorded } from './action';
import { type Command, EXIT } from './store';

/** Lets an exchange go on whose Redis lost its data; web and worker are ready within seconds. */
export const acceptLoss: Command = async ({ store, say }) => {
  const { redis, partitions } = store;
  const lost = await Promise.all(partitions.map(({ keys }) => redis.hget(keys.epoch, 'lost')));
  const times = lost.flatMap((ms) => (ms === null ? [] : [new Date(Number(ms)).toISOString()]));
  await recorded(store, { action: 'accept-loss', path: 'accept-loss', body: { lostAt: times } }, () =>
    Promise.all(partitions.map(({ keys }) => redis.hdel(keys.epoch, 'lost'))),
  );
  await say(
    { lostAt: times },
    times.length === 0
      ? ['nothing is lost, as far as this Redis knows']
      : times.map((at) => `the loss of ${at} is accepted: the exchange goes on with what is there`),
  );
  return EXIT.done;
};
