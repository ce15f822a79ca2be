import { writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { Queue } from 'bullmq';
import { connect, disconnect, ready } from '../../src/store/redis/connection';
import type { FullDisk } from '../support/full-disk';
import type { Random } from '../support/random';
import { sleep, until } from '../support/waiting';
import type { LinkedWeb } from './fleet';
import type { RedisClock } from './redis-clock';
import type { TradingFleet } from './trading-fleet';

/** One fault. It has ended when the promise resolves. */
export type Fault = (scene: Scene) => Promise<void>;

export interface Scene {
  readonly stage: TradingFleet;
  readonly random: Random;
  /** The error of the clocks of the second web process and of the worker. */
  readonly clockFiles: readonly string[];
  /** Under Redis; null where a disk cannot be made to look full. */
  readonly disk: FullDisk | null;
  /** The clock of Redis; null where it cannot be moved. */
  readonly clock: RedisClock | null;
}

const FULL_MS_MAX = 2_000;
/** Longer than the time after which the state of an order without an answer is looked up for the last time. */
const LATE_MS_MAX = 10_000;
const SPARE_BYTES_MAX = 10_000;

const web = ({ stage, random }: Scene): LinkedWeb => random.pick(stage.fleet.webs);
const while_ = async (scene: Scene, most = 1_000): Promise<void> =>
  void (await sleep(200 + scene.random.below(most)));

/** A command that Redis may refuse, on its own connection. */
const ask = ({ stage }: Scene, command: string): Promise<string> =>
  stage.fleet.redis.ask(command).catch((error: Error) => error.message);

export const FAULTS = {
  'kill -9 of a web process': async (scene) => {
    const seat = web(scene);
    await seat.kill();
    await while_(scene);
    await seat.start();
  },
  'kill -9 of the worker': async (scene) => {
    const seat = scene.random.pick(scene.stage.fleet.workers);
    await seat.kill();
    await while_(scene);
    await seat.start();
  },
  'kill -9 of Redis': async ({ stage }) => {
    await stage.fleet.redis.kill();
    await sleep(100);
    await stage.fleet.redis.revive();
  },
  'rolling restart': async ({ stage }) => {
    for (const seat of stage.fleet.webs) {
      await seat.end();
      await seat.start();
    }
  },
  'SCRIPT FLUSH': async (scene) => {
    for (let i = 0; i < 5; i++) {
      await ask(scene, 'SCRIPT FLUSH');
      await sleep(50);
    }
  },
  'cut connections': async (scene) => {
    const seat = web(scene);
    for (let i = 0; i < 5; i++) {
      seat.link.cut();
      await sleep(60);
    }
  },
  'slow connections': async (scene) => {
    const seat = web(scene);
    seat.link.delay(150);
    await while_(scene, 1_500);
    seat.link.heal();
  },
  'black hole': async (scene) => {
    const seat = web(scene);
    seat.link.blackHole();
    await while_(scene, 2_500);
    seat.link.heal();
  },
  'a link that delivers late': async (scene) => {
    const seat = web(scene);
    seat.link.stall();
    await while_(scene, LATE_MS_MAX);
    seat.link.heal();
  },
  'replies lost after the script ran': async (scene) => {
    const seat = web(scene);
    seat.link.holdReplies();
    await while_(scene, 1_500);
    seat.link.heal();
  },
  'black hole of the worker': async ({ stage, random }) => {
    const { link } = random.pick(stage.fleet.workers);
    link.blackHole();
    await sleep(500 + random.below(1_500));
    link.heal();
  },
  'out of memory': async (scene) => {
    await ask(scene, 'CONFIG SET maxmemory 1');
    await while_(scene);
    await ask(scene, 'CONFIG SET maxmemory 0');
  },
  'read-only': async (scene) => {
    // A replica of a Redis that does not exist: it refuses every write until it is a master again, and then has its
    // former data.
    await ask(scene, 'REPLICAOF 127.0.0.1 1');
    await while_(scene);
    await ask(scene, 'REPLICAOF NO ONE');
  },
  'without replicas': async (scene) => {
    await ask(scene, 'CONFIG SET min-replicas-to-write 1');
    await while_(scene);
    await ask(scene, 'CONFIG SET min-replicas-to-write 0');
  },
  'full disk': async ({ stage, random, disk }) => {
    const { redis } = stage.fleet;
    disk?.fill(redis, random.below(SPARE_BYTES_MAX));
    // It ends at the first write that does not fit, and again when it is started.
    await Promise.race([redis.gone(), sleep(FULL_MS_MAX)]);
    disk?.clear(redis);
    if (!redis.isUp()) await redis.revive();
  },
  busy: async (scene) => {
    await ask(scene, 'CONFIG SET busy-reply-threshold 50');
    const busy = ask(scene, "EVAL 'while true do end' 0");
    await while_(scene);
    // A script that has not begun cannot be killed yet.
    let isOver = false;
    void busy.finally(() => {
      isOver = true;
    });
    await until('the script has ended', async () => {
      await ask(scene, 'SCRIPT KILL');
      return isOver;
    });
  },
  'CLIENT PAUSE': async (scene) => {
    await ask(scene, `CLIENT PAUSE ${500 + scene.random.below(1_000)} ALL`);
    await while_(scene);
  },
  'stopped socket clients': async (scene) => {
    const { url } = web(scene).client;
    const { hostname, port } = new URL(url);
    const sockets = Array.from({ length: 20 }, () => {
      const socket = connectTcp(Number(port), hostname);
      socket.on('error', () => undefined);
      const key = 'dGhlIHNhbXBsZSBub25jZQ==';
      socket.write(
        `GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: ${hostname}\r\nUpgrade: websocket\r\n` +
          `Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
      );
      socket.pause();
      return socket;
    });
    await while_(scene);
    for (const socket of sockets) socket.destroy();
  },
  'clock step of a process': async (scene) => {
    const file = scene.random.pick(scene.clockFiles);
    writeFileSync(file, String((scene.random.next() < 0.5 ? -1 : 1) * 120_000));
    await while_(scene, 1_500);
    writeFileSync(file, '0');
  },
  'clock step of Redis': async (scene) => {
    scene.clock?.set(scene.random.next() < 0.5 ? -120 : 120);
    await while_(scene, 3_000);
    scene.clock?.set(0);
  },
  'poison jobs': async ({ stage }) => {
    const redis = connect({ urls: [stage.fleet.redis.url] });
    try {
      await ready(redis, 2_000);
      const queue = new Queue('settlement', { connection: redis, prefix: '{jobs}' });
      const poison = [{}, { matches: 'all' }, { matches: [1] }, { matches: ['m_x_1_1'] }, null];
      await queue.addBulk(poison.map((data) => ({ name: 'settle', data })));
      await queue.close();
    } catch {
      // Another fault may be using Redis now.
    } finally {
      disconnect(redis);
    }
  },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;
