import path from 'node:path';
import { type Client, createClient } from '../support/client';
import { ROOT, START_MS, type Started, startNode } from '../support/processes';
import { ENVIRONMENT } from '../support/settings';
import { until } from '../support/waiting';

const { isStale } = require('../../scripts/build.js') as { isStale(): boolean };

/** A process of the Procfile that can be killed and restarted; a web process keeps its port. */
export interface Seat {
  kill(): Promise<void>;
  /** SIGSTOP and SIGCONT: it stops, and continues as if nothing had happened. */
  pause(): void;
  resume(): void;
  /** SIGTERM, as a platform sends it; returns the exit code. */
  end(): Promise<number | string | null>;
  start(): Promise<void>;
  isUp(): boolean;
}
export interface WebSeat extends Seat {
  readonly client: Client;
}

/** Real processes on any Redis. */
export interface Seats {
  readonly webs: readonly [WebSeat, ...WebSeat[]];
  readonly workers: readonly Seat[];
  /** The output of all processes. */
  logs(): string;
  stop(): Promise<void>;
}

export type SeatName = 'web' | 'worker';

export interface SeatsOptions {
  readonly webs?: number;
  readonly workers?: number;
  /** The folder of web.js and worker.js. */
  readonly program?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The file with the error, in milliseconds, of the clock of this web process (0, 1, ...) or worker; without it, none. */
  readonly clockFile?: (name: SeatName, number: number) => string | undefined;
}

const SHIFTED_CLOCK = path.join(__dirname, 'shifted-clock.js');
export const GRANT = '1000000';
export const WEBS = 2;
export const WORKERS = 1;

/** Each finds Redis where `redisOf` says. */
export async function startSeats(
  options: SeatsOptions,
  redisOf: (name: SeatName, number: number) => string,
): Promise<Seats> {
  const {
    webs = WEBS,
    workers = WORKERS,
    program = path.join(ROOT, 'dist'),
    env = {},
    clockFile = () => undefined,
  } = options;
  if (isStale()) throw new Error('dist is older than the sources: npm run build');
  const all: Started[] = [];

  async function seat(name: SeatName, number: number, ready: RegExp) {
    const file = `${name}.js`;
    const clock = clockFile(name, number);
    const args = clock === undefined ? [] : ['-r', SHIFTED_CLOCK];
    let running: Started;
    let at = '0';
    const start = async (): Promise<void> => {
      const fixed = { REDIS_URL: redisOf(name, number), PORT: at };
      running = startNode([...args, path.join(program, file)], {
        ...ENVIRONMENT,
        PAPER_GRANT: GRANT,
        LOG_LEVEL: 'info',
        ...env,
        ...(clock !== undefined && { CLOCK_FILE: clock }),
        ...fixed,
      });
      all.push(running);
      const { child } = running;
      await until(`${file} is up`, () => ready.test(running.stdout()) || child.exitCode !== null, {
        patienceMs: START_MS,
      });
      at = /"port":(\d+)/.exec(running.stdout())?.[1] ?? at;
    };
    await start();
    const end = (signal: 'SIGKILL' | 'SIGTERM') => {
      running.child.kill(signal);
      return running.exited;
    };
    return {
      start,
      port: () => at,
      kill: async () => void (await end('SIGKILL')),
      pause: () => void running.child.kill('SIGSTOP'),
      resume: () => void running.child.kill('SIGCONT'),
      end: () => end('SIGTERM'),
      isUp: () => running.child.exitCode === null && running.child.signalCode === null,
    };
  }

  const webSeat = async (_: unknown, i: number): Promise<WebSeat> => {
    const one = await seat('web', i, /"port":\d+/);
    return { ...one, client: createClient(`http://127.0.0.1:${one.port()}`) };
  };
  const [[first, ...others], workerSeats] = await Promise.all([
    Promise.all(Array.from({ length: webs }, webSeat)),
    Promise.all(Array.from({ length: workers }, (_, i) => seat('worker', i, /worker is running/))),
  ]);
  if (!first) throw new Error('no web process');
  return {
    webs: [first, ...others],
    workers: workerSeats,
    logs: () => all.map((one) => one.stdout() + one.stderr()).join(''),
    stop: async () => {
      for (const { child } of all) child.kill('SIGKILL');
      await Promise.all(all.map(({ exited }) => exited));
    },
  };
}
