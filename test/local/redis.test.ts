import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import path from 'node:path';
import { startRedis } from '../../src/local/redis';
import { packageFor } from '../../src/local/redis-program';
import { isAlive, type Started, startScript } from '../support/processes';
import { openLink, startTestCluster, startTestRedis } from '../support/redis';
import { until } from '../support/waiting';

/** A separate temporary folder, because other tests have their servers in the system's at the same time. */
let tempFolder: string;
beforeAll(() => {
  tempFolder = mkdtempSync(path.join(tmpdir(), 'exchange-test-'));
});
afterAll(() => rmSync(tempFolder, { recursive: true }));

const leftBehind = (): string[] => readdirSync(tempFolder);

const outsideAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address);

async function ask(port: number, command: string): Promise<string> {
  const link = await openLink(port);
  try {
    return await link.ask(command);
  } finally {
    link.close();
  }
}

describe('startRedis', () => {
  it('answers, listens only on loopback, and leaves neither process nor folder', async () => {
    const redis = await startTestRedis({ tempFolder });
    expect(leftBehind()).toHaveLength(1);
    expect(redis.url).toBe(`redis://127.0.0.1:${redis.port}`);
    expect(await ask(redis.port, 'PING')).toBe('PONG');
    const server = await ask(redis.port, 'INFO server');
    expect(server).toContain(`process_id:${redis.pid}`);
    for (const address of outsideAddresses())
      await expect(openLink(redis.port, address)).rejects.toThrow('ECONNREFUSED');
    await redis.stop();
    await redis.stop();
    expect(isAlive(redis.pid)).toBe(false);
    expect(leftBehind()).toEqual([]);
  });

  it('runs #!lua scripts', async () => {
    const redis = await startTestRedis();
    expect(await ask(redis.port, `EVAL "#!lua\\nreturn 'new'" 0`)).toBe('new');
    await redis.stop();
  });

  it('keeps an append-only file only on request, with the requested policy', async () => {
    for (const [appendonly, enabled] of [
      [undefined, '0'],
      ['always', '1'],
    ] as const) {
      const redis = await startTestRedis(appendonly === undefined ? {} : { appendonly });
      expect(await ask(redis.port, 'INFO persistence')).toContain(`aof_enabled:${enabled}`);
      await redis.stop();
    }
  });

  it('passes settings to the server', async () => {
    const redis = await startTestRedis({ settings: [['maxmemory', '12345678']] });
    expect(await ask(redis.port, 'INFO memory')).toContain('maxmemory:12345678');
    await redis.stop();
  });

  it('gives each server its own port and folder', async () => {
    const both = await Promise.all([startTestRedis(), startTestRedis()]);
    expect(both[0].port).not.toBe(both[1].port);
    await Promise.all(both.map((redis) => redis.stop()));
  });

  it('reports that a given port is taken, and leaves nothing', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    await expect(startRedis({ port, tempFolder })).rejects.toThrow(`port ${port} is taken`);
    await new Promise((resolve) => server.close(resolve));
    expect(leftBehind()).toEqual([]);
  });

  it('reports the server’s message when it refuses to start', async () => {
    await expect(startRedis({ tempFolder, settings: [['no-such-setting', 'x']] })).rejects.toThrow(
      /Redis did not start: .*/,
    );
  });

  it('reports when the server dies by itself, and removes its folder', async () => {
    const redis = await startTestRedis({ tempFolder });
    process.kill(redis.pid, 'SIGKILL');
    await expect(redis.exited).resolves.toMatchObject({ signal: 'SIGKILL' });
    expect(leftBehind()).toEqual([]);
  });

  it('uses an existing server unchanged', async () => {
    const redis = await startRedis({ url: 'redis://example.com:6390' });
    expect(redis).toMatchObject({ url: 'redis://example.com:6390', port: 6390, pid: 0 });
    await redis.stop();
  });

  it('names the package of the machine', () => {
    const found = (id: string) => packageFor('linux', `NAME="x"\n${id}\nVERSION_ID="1"\n`);
    expect(packageFor('darwin', '')).toContain('(brew install redis)');
    expect(found('ID=debian')).toContain('(apt-get install redis-server)');
    expect(found('ID=linuxmint\nID_LIKE="ubuntu debian"')).toContain('(apt-get install redis-server)');
    expect(found('ID=fedora')).toContain('(dnf install valkey)');
    expect(found('ID="rocky"\nID_LIKE="rhel centos fedora"')).toContain('(dnf install valkey)');
    expect(found('ID=alpine')).toContain('(apk add valkey)');
    expect([found('ID=nixos'), packageFor('freebsd', '')]).toEqual(
      Array(2).fill('redis-server or valkey-server 7 or later'),
    );
  });

  it('names the remedies in one line when no Redis can be found', async () => {
    const cacheFolder = mkdtempSync(path.join(tmpdir(), 'exchange-cache-'));
    try {
      const search = startRedis({ cacheFolder, env: { PATH: path.join(cacheFolder, 'empty') } });
      await expect(search).rejects.toThrow(/^no Redis 7 found: install redis-server.*Docker.*REDIS_URL$/);
    } finally {
      rmSync(cacheFolder, { recursive: true });
    }
  });
});

describe('the end of the parent', () => {
  const start = (afterwards: string): Started =>
    startScript(
      `require('./src/local/redis.ts').startRedis().then((redis) => {
      process.stdout.write(redis.pid + '\\n');
      ${afterwards}
    });`,
      { TMPDIR: tempFolder },
    );
  const pidOf = async (parent: Started): Promise<number> => {
    await until('the server is up', () => parent.stdout().endsWith('\n'));
    return Number.parseInt(parent.stdout(), 10);
  };

  it('by SIGKILL ends the server and removes its folder', async () => {
    const parent = start('setInterval(() => undefined, 1000);');
    const pid = await pidOf(parent);
    expect(isAlive(pid)).toBe(true);
    expect(leftBehind()).toHaveLength(1);
    parent.child.kill('SIGKILL');
    await until('the server is gone', () => !isAlive(pid));
    await until('the folder is gone', () => leftBehind().length === 0);
  });

  it('by running out of work, without stop, is not delayed by the server', async () => {
    const parent = start('');
    const pid = await pidOf(parent);
    expect(await parent.exited).toBe(0);
    await until('the server is gone', () => !isAlive(pid));
    await until('the folder is gone', () => leftBehind().length === 0);
  });
});

describe('startTestCluster', () => {
  it('starts three masters that serve every slot, and ends them all', async () => {
    const cluster = await startTestCluster(3);
    expect(cluster.url.split(',')).toHaveLength(3);
    const owners = await Promise.all(
      cluster.nodes.map((node) => ask(node.port, 'SET foo bar').catch(String)),
    );
    expect(owners.filter((answer) => answer === 'OK')).toHaveLength(1);
    expect(owners.filter((answer) => answer.includes('MOVED 12182 127.0.0.1:'))).toHaveLength(2);
    await cluster.stop();
    expect(cluster.nodes.some((node) => isAlive(node.pid))).toBe(false);
  });
});

/** Needs Debian and its archive, so it runs only with TEST_UNPACK=1, as in .ci/run. */
const describeUnpack = process.env.TEST_UNPACK === '1' ? describe : describe.skip;

describeUnpack('a machine without redis-server', () => {
  it('startRedis unpacks a server from the packages, and finds it there the next time', async () => {
    const cacheFolder = mkdtempSync(path.join(tmpdir(), 'exchange-cache-'));
    const programs = path.join(cacheFolder, 'programs');
    mkdirSync(programs);
    const hidden = /^(redis|valkey|docker|podman)/;
    for (const name of readdirSync('/usr/bin').filter((file) => !hidden.test(file))) {
      symlinkSync(path.join('/usr/bin', name), path.join(programs, name));
    }
    const told: string[] = [];
    const onProgress = (line: string): void => void told.push(line);
    try {
      const first = await startRedis({ cacheFolder, env: { PATH: programs }, onProgress });
      expect(await ask(first.port, 'INFO server')).toContain(`executable:${cacheFolder}/root/usr/bin/redis-`);
      await first.stop();
      expect(told.filter((line) => !line.startsWith('still '))).toEqual([
        expect.stringContaining('unpacking'),
      ]);
      expect(readdirSync(cacheFolder).sort()).toEqual(['programs', 'root']);
      const again = await startRedis({ cacheFolder, env: { PATH: `${programs}:` }, onProgress });
      await again.stop();
      expect(told).toHaveLength(1);
    } finally {
      rmSync(cacheFolder, { recursive: true });
    }
  }, 300_000);
});
