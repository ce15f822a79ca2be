import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { VARIABLES, type Variable } from '../../src/config/variables';
import { PACE } from '../../src/wire/limits';
import { presentProblem } from '../../src/wire/problem';
import { API_PATHS } from '../support/api';
import { ROOT } from '../support/processes';
import { startTestRedis } from '../support/redis';

const { load } = require('js-yaml') as { load(text: string): unknown };

/** As far as it is looked at. */
interface Service {
  readonly profiles?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly volumes?: readonly string[];
  readonly mem_limit?: string;
}

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

describe('the files for deployment', () => {
  it('the Procfile names the two processes, in place of the shell that starts them', () => {
    // A platform signals what it started: without exec that is the shell.
    expect(read('Procfile')).toBe('web: exec node dist/web.js\nworker: exec node dist/worker.js\n');
  });

  it('compose sets and requires only known variables', () => {
    const compose = read('docker-compose.yml');
    const set = [...compose.matchAll(/^ {4,6}([A-Z][A-Z0-9_]+):/gm)].map(([, name]) => name);
    const asked = [...compose.matchAll(/\$\{([A-Z][A-Z0-9_]+)/g)].map(([, name]) => name);
    expect(set).toContain('REDIS_URL');
    expect(asked).toContain('JWT_SECRET');
    // Variables of the stores themselves; the exchange receives the passwords within REDIS_URL and ARCHIVE_URL.
    const stores = [
      'REDIS_PASSWORD',
      'REDIS_OPERATOR_PASSWORD',
      'REDIS_MAXMEMORY',
      'POSTGRES_PASSWORD',
      'POSTGRES_USER',
      'POSTGRES_DB',
    ];
    const known = [...Object.keys(VARIABLES), ...stores, 'MEMORY_LIMIT'];
    expect(known).toEqual(expect.arrayContaining([...set, ...asked]));
  });

  it('an .env that was copied from the example leaves compose the defaults of its own', () => {
    const defaults = [...read('docker-compose.yml').matchAll(/\$\{([A-Z_]+):-([^}]*)\}?/g)];
    expect(defaults.map(([, name]) => name)).toContain('TRUST_PROXY');
    for (const [, name = '', fallback] of defaults) {
      const copied = new RegExp(`^${name}=(.+)$`, 'm').exec(read('.env.example'))?.[1] ?? fallback;
      expect([name, copied]).toEqual([name, fallback]);
    }
  });

  it('compose keeps every write and evicts nothing', () => {
    const compose = read('docker-compose.yml');
    const words = [...compose.matchAll(/^ {6}- "([^"]*)"$/gm)].map(([, word]) => word).join(' ');
    for (const setting of ['--appendonly yes', '--appendfsync always', '--maxmemory-policy noeviction']) {
      expect(words).toContain(setting);
    }
    expect(compose).toMatch(/web:\n {4}<<: \*exchange\n {4}deploy:\n {6}replicas: 2\n/);
  });

  it.each(['docker-compose.yml', 'docker-compose.cluster.yml'])(
    'the containers of %s write nowhere but where they must, have no power of root that they do not use, and only the secrets that they read',
    (file) => {
      const { services } = load(read(file)) as { services: Record<string, Service> };
      for (const [name, service] of Object.entries(services)) {
        expect([name, service]).toEqual([
          name,
          expect.objectContaining({
            read_only: true,
            cap_drop: ['ALL'],
            security_opt: ['no-new-privileges:true'],
          }),
        ]);
        // A limit of its container could end a Redis while it writes a new file; maxmemory limits it.
        expect([name, service.mem_limit !== undefined]).toEqual([name, !/^(redis|cluster)/.test(name)]);
        const files = (service.volumes ?? []).filter((volume) => volume.startsWith('./'));
        // Without z, SELinux does not let the container read them.
        expect([name, files.filter((volume) => !volume.endsWith(':ro,z'))]).toEqual([name, []]);
      }
      for (const kind of ['web', 'worker']) {
        const withheld = Object.entries<Variable<unknown>>(VARIABLES).flatMap(
          ([variable, { secret, readBy }]) =>
            secret && readBy !== undefined && readBy !== kind ? [variable] : [],
        );
        expect(withheld.length).toBeGreaterThanOrEqual(2);
        const passwords = ['REDIS_PASSWORD', 'REDIS_OPERATOR_PASSWORD', 'POSTGRES_PASSWORD'];
        // They would come from .env, and an empty value counts as unset.
        for (const variable of [...withheld, ...passwords])
          expect([kind, variable, services[kind]?.environment?.[variable]]).toEqual([kind, variable, '']);
      }
    },
  );

  it('compose has an archive only where it is asked for, and nothing waits for it', () => {
    const { services } = load(read('docker-compose.yml')) as { services: Record<string, Service> };
    const { postgres, ...others } = services;
    expect(postgres?.profiles).toEqual(['archive']);
    expect(Object.values(others).filter(({ profiles }) => profiles)).toEqual([]);
    const waiting = Object.values(services).flatMap(({ depends_on }) => Object.keys(depends_on ?? {}));
    expect(waiting).not.toContain('postgres');
    for (const name of ['web', 'worker']) {
      const url = services[name]?.environment?.ARCHIVE_URL ?? '';
      // One shell reads both forms of a default as compose does.
      const read = (variables: Readonly<Record<string, string>>): string =>
        execFileSync('sh', ['-c', `printf %s "${url}"`], { encoding: 'utf8', env: variables });
      expect([read({}), read({ POSTGRES_PASSWORD: '' }), read({ ARCHIVE_URL: '' })]).toEqual(['', '', '']);
      expect(read({ POSTGRES_PASSWORD: 'abc' })).toBe('postgres://exchange:abc@postgres:5432/exchange');
      expect(read({ POSTGRES_PASSWORD: 'abc', ARCHIVE_URL: 'postgres://own' })).toBe('postgres://own');
    }
  });

  it('the errors of the load balancer have the form of web’s problems', () => {
    const answers = [...read('docs/deploy/nginx.conf').matchAll(/return (\d+) '(\{.*\})';/g)];
    const codes = answers.map(([, status, text = '']) => {
      const problem = JSON.parse(text);
      const { code, detail } = problem;
      expect(problem).toEqual(presentProblem({ code, detail, status: Number(status) }, '$kept_request_id'));
      return code;
    });
    expect(codes).toEqual([
      'NOT_FOUND',
      ...['INVALID_REQUEST', 'METHOD_NOT_ALLOWED', 'INVALID_REQUEST', 'RATE_LIMITED', 'UNAVAILABLE'],
    ]);
  });

  it('the load balancer blocks operator paths and metrics from outside', () => {
    const [, closed = ''] = /location ~\* (\S+) \{/.exec(read('docs/deploy/nginx.conf')) ?? [];
    const ours = API_PATHS.filter((one) => new RegExp(closed, 'i').test(one));
    const operators = API_PATHS.filter((one) => one.startsWith('/admin') || one === '/metrics');
    expect(ours.sort()).toEqual(operators.sort());
    // nginx compares what it has decoded and put in order, so it is enough that other spellings of these are closed.
    for (const spelling of ['/ADMIN/log', '/admin', '/admin/', '/Metrics', '/metrics/'])
      expect([spelling, new RegExp(closed, 'i').test(spelling)]).toEqual([spelling, true]);
    for (const other of ['/administrators', '/metricsx', '/markets/admin'])
      expect([other, new RegExp(closed, 'i').test(other)]).toEqual([other, false]);
  });

  it('the load balancer lets an address have as many connections as web does where it stands alone', () => {
    const nginx = read('docs/deploy/nginx.conf');
    expect(nginx).toContain(`limit_conn addresses ${PACE.connections};`);
    expect(nginx).toContain(`one IP may have ${PACE.connections} open connections`);
  });

  it('the Redis of compose has one user, the exchange, with a password', async () => {
    const [, script = ''] = /sed -n "([^"]+)"/.exec(read('docker-compose.yml')) ?? [];
    const lines = execFileSync(
      'sed',
      ['-n', script.replace('$$REDIS_PASSWORD', 'abc123'), 'docs/deploy/redis-acl.conf'],
      {
        cwd: ROOT,
        encoding: 'utf8',
      },
    );
    expect(lines.match(/^user \w+/gm)).toEqual(['user default', 'user exchange']);
    const folder = mkdtempSync(path.join(tmpdir(), 'exchange-compose-'));
    const file = path.join(folder, 'users.acl');
    writeFileSync(file, lines);
    const redis = await startTestRedis({ settings: [['aclfile', file]] });
    const ping = async (user: string): Promise<string> => {
      const link = new Redis(`redis://${user}127.0.0.1:${redis.port}`, {
        lazyConnect: true,
        retryStrategy: () => null,
      });
      link.on('error', () => undefined);
      try {
        return await link.ping();
      } catch (error) {
        return String(error);
      } finally {
        link.disconnect();
      }
    };
    try {
      expect(await ping('exchange:abc123@')).toBe('PONG');
      expect(await ping('exchange:change-this-password@')).not.toBe('PONG');
      expect(await ping('')).not.toBe('PONG');
    } finally {
      await redis.stop();
      rmSync(folder, { recursive: true });
    }
  });

  it('the image runs no install script but one', () => {
    expect(read('Dockerfile').match(/npm (?:ci|prune|rebuild|install)[^&\n]*/g)).toEqual([
      'npm ci --ignore-scripts ',
      'npm rebuild secp256k1',
      'npm prune --omit=dev --ignore-scripts',
    ]);
  });

  it('the image runs web as an unprivileged user, and is built without secrets', () => {
    const image = read('Dockerfile');
    expect(image).toMatch(/^USER node$/m);
    expect(image).toMatch(/^CMD \["node", "dist\/web.js"\]$/m);
    expect(image).toContain('/livez');
    expect(read('.dockerignore')).toMatch(/^\*$/m);
  });
});
