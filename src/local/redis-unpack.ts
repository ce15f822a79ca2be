import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import type { Environment } from '../config/load';
import { runCommand } from './child';

/** This package contains the server; `redis-server` itself only adds the service around it. */
const PACKAGE = 'redis-tools';
/** The packages that it needs on a bare Debian, in case apt cannot determine them. */
const LIBRARIES = ['libatomic1', 'libjemalloc2', 'liblzf1', 'libssl3'];
const PACKAGES_MAX = 40;
const UPDATE_MS_MAX = 120_000;
const DOWNLOAD_MS_MAX = 120_000;
const STEP_MS_MAX = 30_000;

/**
 * Unpacks a Redis from the distribution's packages into `<cacheFolder>/root`, without root and without installing it.
 * Returns false when the system is not a Debian, or its archive cannot be reached.
 */
export async function unpackRedis(
  cacheFolder: string,
  env: Environment,
  onProgress: (line: string) => void,
): Promise<boolean> {
  if ((await runCommand('apt-get', ['--version'], { timeoutMs: STEP_MS_MAX, env })) === null) return false;
  onProgress(
    'no redis-server on PATH: unpacking one from the Debian packages into .cache (once, a few seconds)',
  );
  const work = path.join(cacheFolder, `unpacking-${process.pid}`);
  const cleanUp = (): void => rmSync(work, { recursive: true, force: true });
  process.once('exit', cleanUp);
  try {
    for (const folder of ['debs', 'root', 'lists/partial', 'apt/archives/partial']) {
      mkdirSync(path.join(work, folder), { recursive: true });
    }
    const apt = createApt(work, env);
    // The machine's own package lists are quickest. Without them, or when they are stale, new lists are fetched.
    if (!(await apt.download()) && !((await apt.updateOwnLists()) && (await apt.download()))) return false;
    return await unpackInto(work, path.join(cacheFolder, 'root'), env);
  } finally {
    process.off('exit', cleanUp);
    cleanUp();
  }
}

function createApt(work: string, env: Environment) {
  let options = [
    '-o',
    'APT::Sandbox::User=root',
    '-o',
    'Acquire::Retries=1',
    '-o',
    'Acquire::http::Timeout=20',
  ];
  const debs = path.join(work, 'debs');
  const run = (args: readonly string[], timeoutMs: number) =>
    runCommand('apt-get', [...options, ...args], { timeoutMs, cwd: debs, env });

  /** The package and those of its dependencies that this machine lacks; a simulation needs no root. */
  async function missingPackages(): Promise<readonly string[]> {
    const plan = await run(['--simulate', '--no-install-recommends', 'install', PACKAGE], STEP_MS_MAX);
    if (plan === null) return [PACKAGE, ...LIBRARIES];
    const planned = [...plan.matchAll(/^Inst (\S+)/gm)].map(([, name = '']) => name);
    return [...new Set([PACKAGE, ...planned])].slice(0, PACKAGES_MAX);
  }

  return {
    async download(): Promise<boolean> {
      return (await run(['download', ...(await missingPackages())], DOWNLOAD_MS_MAX)) !== null;
    },
    async updateOwnLists(): Promise<boolean> {
      options = [...options, '-o', `Dir::State::Lists=${work}/lists`, '-o', `Dir::Cache=${work}/apt`];
      return (await run(['update'], UPDATE_MS_MAX)) !== null;
    },
  };
}

/** Moves the finished tree into place in one step, so that no process starts an incomplete Redis. */
async function unpackInto(work: string, target: string, env: Environment): Promise<boolean> {
  const root = path.join(work, 'root');
  for (const file of readdirSync(path.join(work, 'debs')).filter((name) => name.endsWith('.deb'))) {
    const args = ['-x', path.join(work, 'debs', file), root];
    if ((await runCommand('dpkg', args, { timeoutMs: STEP_MS_MAX, env })) === null) return false;
  }
  const programs = path.join(root, 'usr/bin');
  if (!existsSync(path.join(programs, 'redis-server'))) {
    // One binary picks its role by the name under which it is called.
    if (!existsSync(path.join(programs, 'redis-check-rdb'))) return false;
    symlinkSync('redis-check-rdb', path.join(programs, 'redis-server'));
  }
  rmSync(target, { recursive: true, force: true });
  renameSync(root, target);
  return true;
}
