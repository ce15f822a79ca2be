import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Child, type ChildExit, startChild } from './child';
import { freePort } from './ports';
import { type FindOptions, findRedisProgram, type RedisProgram } from './redis-program';
import { withTimeout } from './timeout';

export interface StartRedisOptions {
  /** An existing server: then none is started, and `stop` does nothing. */
  readonly url?: string;
  /** Default `no`, because the data is deleted on `stop`. */
  readonly appendonly?: 'always' | 'everysec' | 'no';
  /** Default: a free port. */
  readonly port?: number;
  /** Starts a node of a cluster that has not joined one yet. */
  readonly cluster?: boolean;
  /** More settings, as `['maxmemory', '10mb']`. */
  readonly settings?: readonly (readonly [name: string, value: string])[];
  /** The folder into which a Redis is unpacked when the machine has none; default `.cache/redis` of the project. */
  readonly cacheFolder?: string;
  /** The folder that contains the server's private folder; default the system's temporary folder. */
  readonly tempFolder?: string;
  readonly env?: FindOptions['env'];
  readonly onProgress?: (line: string) => void;
}

export interface RunningRedis {
  readonly url: string;
  readonly port: number;
  /** The port for the other nodes of a cluster; 0 without a cluster. */
  readonly busPort: number;
  /** 0 for a server that was not started here. */
  readonly pid: number;
  /** Settles when the server has ended for any reason; never for a server that was not started here. */
  readonly exited: Promise<ChildExit>;
  lastLines(): readonly string[];
  /** Ends the server, by force after `graceMs` (default 4 s), and removes its folder. */
  stop(graceMs?: number): Promise<void>;
}

interface Ports {
  readonly port: number;
  readonly busPort: number;
}

const READY_MS_MAX = 60_000;
const CONTAINER_READY_MS_MAX = 60_000;
const STOP_MS_MAX = 4_000;
const PORT_TRIES_MAX = 5;
const CACHE_FOLDER = path.join(__dirname, '../../.cache/redis');

/** The programs found, by cache folder, because the search takes longer than a start. */
const found = new Map<string, Promise<RedisProgram>>();

/**
 * A private Redis on loopback that ends with this process, even with SIGKILL. For development and tests, never for
 * production, because its data is deleted when it stops. Rejects with one line for the user.
 */
export async function startRedis(options: StartRedisOptions = {}): Promise<RunningRedis> {
  if (options.url !== undefined) return existing(options.url);
  const program = await find(options);
  for (let tries = 1; ; tries++) {
    const port = options.port ?? (await freePort());
    const folder = mkdtempSync(path.join(options.tempFolder ?? tmpdir(), 'exchange-redis-'));
    const ports = { port, busPort: options.cluster === true ? await freePort() : 0 };
    const args = serverArguments(options, program, ports, folder);
    // Another process may take the port between choosing and binding it.
    const server = await startServer(program, ports, folder, args);
    if (server !== null) return server;
    if (options.port !== undefined) throw new Error(`port ${port} is taken`);
    if (tries >= PORT_TRIES_MAX) throw new Error(`Redis found no free port in ${PORT_TRIES_MAX} tries`);
  }
}

function find(options: StartRedisOptions): Promise<RedisProgram> {
  const { cacheFolder = CACHE_FOLDER, env, onProgress } = options;
  const key = `${cacheFolder} ${env?.PATH ?? ''}`;
  const known = found.get(key);
  if (known !== undefined) return known;
  const search = findRedisProgram({
    cacheFolder,
    ...(env === undefined ? {} : { env }),
    ...(onProgress === undefined ? {} : { onProgress }),
  });
  found.set(key, search);
  search.catch(() => found.delete(key));
  return search;
}

function existing(url: string): RunningRedis {
  const nothing = async (): Promise<void> => undefined;
  const port = Number(new URL(url.split(',')[0] ?? url).port || 6379);
  return {
    url,
    port,
    busPort: 0,
    pid: 0,
    exited: new Promise(() => undefined),
    lastLines: () => [],
    stop: nothing,
  };
}

function serverArguments(
  options: StartRedisOptions,
  program: RedisProgram,
  { port, busPort }: Ports,
  folder: string,
): string[] {
  const { appendonly = 'no', settings = [] } = options;
  const all: (readonly [string, string])[] = [
    ['port', String(port)],
    // A container has its own loopback, so only the published port is bound to the host's loopback.
    ...(program.isContainer
      ? ([['protected-mode', 'no']] as const)
      : ([
          ['bind', '127.0.0.1'],
          ['dir', folder],
        ] as const)),
    ['save', ''],
    ['appendonly', appendonly === 'no' ? 'no' : 'yes'],
    ...(appendonly === 'no'
      ? []
      : ([
          ['appendfsync', appendonly],
          ['aof-load-truncated', 'no'],
        ] as const)),
    ...(busPort === 0
      ? []
      : ([
          ['cluster-enabled', 'yes'],
          ['cluster-port', String(busPort)],
          ['cluster-node-timeout', '2000'],
        ] as const)),
    ...settings,
  ];
  return [...program.args(port), ...all.flatMap(([name, value]) => [`--${name}`, value])];
}

/** Returns null when the port was taken. */
async function startServer(
  program: RedisProgram,
  ports: Ports,
  folder: string,
  args: readonly string[],
): Promise<RunningRedis | null> {
  let onReady: (ready: 'ready') => void = () => undefined;
  const ready = new Promise<'ready'>((resolve) => {
    onReady = resolve;
  });
  const child = startChild({
    name: 'redis',
    command: program.command,
    args,
    env: program.env,
    folder,
    onLine: (line) => {
      if (/Ready to accept connections/i.test(line)) onReady('ready');
    },
  });
  const outcome = await withTimeout(
    program.isContainer ? CONTAINER_READY_MS_MAX : READY_MS_MAX,
    Promise.race([ready, child.exited]),
  );
  if (outcome === 'ready') return running(child, ports);
  await child.stop(STOP_MS_MAX);
  const said = child.lastLines().join('\n');
  if (/address already in use|port is already allocated/i.test(said)) return null;
  throw new Error(`Redis did not start: ${child.lastLines().at(-1) ?? program.command}`);
}

function running(child: Child, { port, busPort }: Ports): RunningRedis {
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    busPort,
    pid: child.pid,
    exited: child.exited,
    lastLines: child.lastLines,
    stop: (graceMs = STOP_MS_MAX) => child.stop(graceMs),
  };
}
