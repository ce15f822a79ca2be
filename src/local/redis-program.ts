import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Environment, processEnvironment } from '../config/load';
import { runCommand } from './child';
import { withProgress } from './progress';
import { unpackRedis } from './redis-unpack';

/** The command that starts a Redis on this machine; the server's own arguments follow `args`. */
export interface RedisProgram {
  readonly command: string;
  readonly env: Environment;
  /** Arguments before the server's; in a container the server listens on all of the container's interfaces. */
  readonly args: (port: number) => readonly string[];
  readonly isContainer: boolean;
}

/** `#!lua` scripts and ADDSLOTSRANGE need Redis 7; every version of Valkey has them. */
const MAJOR_VERSION_MIN = 7;
const IMAGE = 'redis:7';
const VERSION_MS_MAX = 10_000;
const DOCKER_MS_MAX = 15_000;
const DOCKER_PULL_MS_MAX = 180_000;

export interface FindOptions {
  readonly cacheFolder: string;
  readonly env?: Environment;
  /** Reports in one line when the search takes long. */
  readonly onProgress?: (line: string) => void;
}

/**
 * Finds a Redis without asking the user: on PATH, unpacked earlier, unpacked now from the distribution's packages, or in a
 * container. Rejects with one line that names the remedies.
 */
export async function findRedisProgram(options: FindOptions): Promise<RedisProgram> {
  const { cacheFolder, env = processEnvironment(), onProgress = () => undefined } = options;
  for (const name of ['redis-server', 'valkey-server']) {
    const command = onPath(name, env);
    const program = command === null ? null : await checked(command, env);
    if (program !== null) return program;
  }
  const earlier = await unpackedProgram(cacheFolder, env);
  if (earlier !== null) return earlier;
  if (await withProgress('unpacking', unpackRedis(cacheFolder, env, onProgress))) {
    const unpacked = await unpackedProgram(cacheFolder, env);
    if (unpacked !== null) return unpacked;
  }
  const container = await containerProgram(env, onProgress);
  if (container !== null) return container;
  throw new Error(
    `no Redis 7 found: install ${packageFor(process.platform, osRelease())}, start a Docker engine, or set REDIS_URL`,
  );
}

/** The identifiers of ID and ID_LIKE of a distribution, and its command. */
const INSTALLERS: readonly (readonly [distributions: RegExp, command: string])[] = [
  [/\b(debian|ubuntu)\b/, 'apt-get install redis-server'],
  [/\b(fedora|rhel|centos)\b/, 'dnf install valkey'],
  [/\balpine\b/, 'apk add valkey'],
  [/\barch\b/, 'pacman -S valkey'],
  [/\bsuse\b/, 'zypper install valkey'],
];

/** What gives this machine a Redis. `release` is the text of /etc/os-release, empty where there is none. */
export function packageFor(platform: NodeJS.Platform, release: string): string {
  const ids = [...release.matchAll(/^ID(?:_LIKE)?=(.*)$/gm)].map(([, id = '']) => id).join(' ');
  const command =
    platform === 'darwin' ? 'brew install redis' : INSTALLERS.find(([pattern]) => pattern.test(ids))?.[1];
  return `redis-server or valkey-server 7 or later${command === undefined ? '' : ` (${command})`}`;
}

function osRelease(): string {
  try {
    return readFileSync('/etc/os-release', 'utf8');
  } catch {
    return '';
  }
}

function onPath(name: string, env: Environment): string | null {
  for (const folder of (env.PATH ?? '').split(path.delimiter)) {
    const file = path.join(folder, name);
    if (folder !== '' && isExecutable(file)) return file;
  }
  return null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the program when it runs here and is new enough. */
async function checked(command: string, env: Environment): Promise<RedisProgram | null> {
  const version = await runCommand(command, ['--version'], { timeoutMs: VERSION_MS_MAX, env });
  const major = Number(/\bv=(\d+)\./.exec(version ?? '')?.[1] ?? 0);
  return major >= MAJOR_VERSION_MIN ? { command, env, args: () => [], isContainer: false } : null;
}

/** Libraries come from the folder first, then from the machine. */
async function unpackedProgram(cacheFolder: string, env: Environment): Promise<RedisProgram | null> {
  // The server is a link to redis-check-rdb and picks its role by its name.
  const command = path.join(cacheFolder, 'root/usr/bin/redis-server');
  if (!existsSync(command)) return null;
  const libraries = await runCommand('find', [path.join(cacheFolder, 'root'), '-name', 'lib*.so*'], {
    timeoutMs: VERSION_MS_MAX,
    env,
  });
  const folders = new Set(
    (libraries ?? '')
      .split('\n')
      .filter(Boolean)
      .map((file) => path.dirname(file)),
  );
  return checked(command, { ...env, LD_LIBRARY_PATH: [...folders].join(':') });
}

async function containerProgram(
  env: Environment,
  onProgress: (line: string) => void,
): Promise<RedisProgram | null> {
  const command = onPath('docker', env) ?? onPath('podman', env);
  if (command === null) return null;
  if ((await runCommand(command, ['info'], { timeoutMs: DOCKER_MS_MAX, env })) === null) return null;
  onProgress(`fetching the container image ${IMAGE}`);
  const inspected = await runCommand(command, ['image', 'inspect', IMAGE], { timeoutMs: DOCKER_MS_MAX, env });
  if (inspected === null) {
    const pull = runCommand(command, ['pull', '--quiet', IMAGE], { timeoutMs: DOCKER_PULL_MS_MAX, env });
    if ((await withProgress('fetching', pull)) === null) return null;
  }
  const args = (port: number) => [
    'run',
    '--rm',
    '--publish',
    `127.0.0.1:${port}:${port}`,
    IMAGE,
    'redis-server',
  ];
  return { command, env, args, isContainer: true };
}
