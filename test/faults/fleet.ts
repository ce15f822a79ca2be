import { type DurableRedis, startDurableRedis } from '../support/durable-redis';
import { type Proxy as Link, startProxy } from '../support/proxy';
import { stopAll } from '../support/stopping';
import { type Seat, type Seats, type SeatsOptions, startSeats, WEBS, type WebSeat, WORKERS } from './seats';

interface Linked {
  /** The proxy between this process and Redis. */
  readonly link: Link;
}
export type LinkedSeat = Seat & Linked;
export type LinkedWeb = WebSeat & Linked;

export interface Fleet extends Seats {
  readonly redis: DurableRedis;
  readonly webs: readonly [LinkedWeb, ...LinkedWeb[]];
  readonly workers: readonly LinkedSeat[];
}

export interface FleetOptions extends SeatsOptions {
  readonly redis?: Parameters<typeof startDurableRedis>[0];
}

/** Real processes, each with its own link to one durable Redis. */
export async function startFleet({ redis: more, ...options }: FleetOptions = {}): Promise<Fleet> {
  const redis = await startDurableRedis({ appendonly: 'always', ...more });
  const linksTo = (count: number): Promise<Link[]> =>
    Promise.all(Array.from({ length: count }, () => startProxy(redis.port)));
  const links = {
    web: await linksTo(options.webs ?? WEBS),
    worker: await linksTo(options.workers ?? WORKERS),
  };
  const seats = await startSeats(
    options,
    (name, number) => `redis://127.0.0.1:${(links[name][number] as Link).port}`,
  );
  const linked = <T extends Seat>(list: readonly T[], to: readonly Link[]): (T & Linked)[] =>
    list.map((seat, i) => ({ ...seat, link: to[i] as Link }));
  return {
    ...seats,
    redis,
    webs: linked(seats.webs, links.web) as [LinkedWeb, ...LinkedWeb[]],
    workers: linked(seats.workers, links.worker),
    stop: async () => {
      try {
        await seats.stop();
      } finally {
        await stopAll(...[...links.web, ...links.worker].map((link) => link.stop), redis.stop);
      }
    },
  };
}
