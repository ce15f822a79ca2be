import { execFile, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../src/local/ports';
import { ownChild } from './leftovers';
import { findPostgres, type PostgresPrograms } from './postgres-programs';
import { until } from './waiting';

/** A PostgreSQL that can be killed and comes back on its port with its data. */
export interface TestPostgres {
  readonly url: string;
  /** SIGKILL to all of its processes; resolves when it is gone. */
  kill(): Promise<void>;
  revive(): Promise<void>;
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Default: those of the machine, or of the package. */
  readonly programs?: PostgresPrograms | null;
  /** Writes every transaction to disk before it is answered, as PostgreSQL does by default. */
  readonly durable?: boolean;
}

const START_MS_MAX = 60_000;
/** PostgreSQL does not run as root: the ids of the user without rights. */
const NOBODY = { uid: 65_534, gid: 65_534 };
const isRoot = process.getuid?.() === 0;
const identity = isRoot ? NOBODY : {};

/** A private one on loopback. */
export async function startPostgres({
  programs = findPostgres(),
  durable = false,
}: PostgresOptions = {}): Promise<TestPostgres> {
  if (!programs) throw new Error('no PostgreSQL: put one on PATH, or run npm ci');
  const folder = mkdtempSync(path.join(tmpdir(), 'exchange-postgres-'));
  if (isRoot) chownSync(folder, NOBODY.uid, NOBODY.gid);
  const data = path.join(folder, 'data');
  const bin = await programs.in(folder);
  const options = { ...identity, cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C' } };
  await promisify(execFile)(
    path.join(bin, 'initdb'),
    ['-D', data, '-U', 'exchange', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    options,
  );
  const port = await freePort();

  async function start() {
    const places = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '' };
    const settings = { ...places, fsync: durable ? 'on' : 'off' };
    const child = ownChild(
      spawn(
        path.join(bin, 'postgres'),
        ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
        { ...options, detached: true, stdio: ['ignore', 'ignore', 'pipe'] },
      ),
    );
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    let said = '';
    child.stderr.on('data', (text) => {
      said += text;
    });
    await until('PostgreSQL accepts connections', () => said.includes('ready to accept connections'), {
      patienceMs: START_MS_MAX,
      explain: () => said,
      isLost: () => child.exitCode !== null,
    });
    return { child, gone };
  }
  let running = await start();
  const kill = async (): Promise<void> => {
    if (running.child.exitCode === null && running.child.signalCode === null)
      await killAll(running.child.pid);
    await running.gone;
  };
  return {
    url: `postgres://exchange@127.0.0.1:${port}/postgres`,
    kill,
    async revive() {
      await kill();
      running = await start();
    },
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Kills a server with its other processes: its children, each in a group of its own, would answer for a moment longer. */
async function killAll(server = 0): Promise<void> {
  const children = await childrenOf(server);
  process.kill(-server, 'SIGKILL');
  for (const pid of children) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It is gone.
    }
  }
}

/** A small Linux has no `ps`; other systems have no /proc. */
async function childrenOf(parent: number): Promise<number[]> {
  if (process.platform === 'linux') {
    const listed = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8');
    return listed.split(' ').filter(Boolean).map(Number);
  }
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  return rows.flatMap(([pid, of]) => (of === parent && pid ? [pid] : []));
}
