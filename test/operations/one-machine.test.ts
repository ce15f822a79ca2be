import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseCertificates } from '../../src/config/values';
import { VARIABLES } from '../../src/config/variables';
import { freePort } from '../../src/local/ports';
import { hasOpenssl, issueCertificates } from '../support/certificates';
import { type DurableRedis, startDurableRedis } from '../support/durable-redis';
import { ROOT, type Started, startNode, startProgram } from '../support/processes';
import { until } from '../support/waiting';

/** The files of docs/run/one-machine.md, run as they are but for ports, folders, certificate and secrets. */
const FOLDER = path.join(ROOT, 'docs/deploy/debian');
const read = (name: string): string => readFileSync(path.join(FOLDER, name), 'utf8');
const TOKEN = randomBytes(24).toString('hex');
const has = (command: string): boolean => spawnSync(command, ['-v']).status === 0;
const withNginx = has('nginx') && hasOpenssl ? describe : describe.skip;

const variablesOf = (name: string): Record<string, string> =>
  Object.fromEntries([...read(name).matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, key, value]) => [key, value]));

test('the environment files set known variables; the secrets of web alone are in its own file', () => {
  const [both, web] = [variablesOf('exchange.env'), variablesOf('web.env')];
  expect(Object.keys({ ...both, ...web }).filter((name) => !(name in VARIABLES))).toEqual([]);
  expect(Object.keys(web)).toEqual(['JWT_SECRET', 'ADMIN_TOKEN']);
  expect(both).toMatchObject({ HOST: '127.0.0.1', METRICS_HOST: '127.0.0.1', TRUST_PROXY: 'loopback' });
});

(hasOpenssl ? test : test.skip)(
  'a PEM that the command of the page writes into an environment file is the same for a shell and for Node',
  () => {
    const page = readFileSync(path.join(ROOT, 'docs/run/operations.md'), 'utf8');
    const command = /^echo "REDIS_TLS_CA=.*$/m.exec(page)?.[0] ?? '';
    const folder = mkdtempSync(path.join(tmpdir(), 'exchange-pem-'));
    const pem = issueCertificates(folder).ca;
    writeFileSync(path.join(folder, 'ca.pem'), pem);
    const run = (name: string, ...args: string[]): string =>
      spawnSync(name, args, { cwd: folder, encoding: 'utf8', env: { PATH: process.env.PATH } }).stdout;
    const print = 'process.stdout.write(process.env.REDIS_TLS_CA ?? "")';
    try {
      run('sh', '-c', command);
      const told = [
        run('sh', '-c', `set -a; . ./exchange.env; exec '${process.execPath}' -e '${print}'`),
        run(process.execPath, '--env-file=exchange.env', '-e', print),
      ];
      expect(told.map((text) => parseCertificates(text ?? ''))).toEqual([
        parseCertificates(pem),
        parseCertificates(pem),
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

test('Redis starts with its settings and keeps every write', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'exchange-redis-'));
  const port = await freePort();
  const settings = read('redis.conf').replace(
    '/etc/redis/exchange.acl',
    path.join(ROOT, 'docs/deploy/redis-acl.conf'),
  );
  writeFileSync(path.join(folder, 'redis.conf'), settings);
  const started = startProgram('redis-server', [
    path.join(folder, 'redis.conf'),
    ...['--port', String(port), '--dir', folder],
  ]);
  try {
    await until('Redis takes commands', () => /[Rr]eady to accept/.test(started.stdout()), {
      explain: () => started.stdout() + started.stderr(),
    });
  } finally {
    started.child.kill('SIGKILL');
    await started.exited;
    rmSync(folder, { recursive: true });
  }
});

(spawnSync('systemd-analyze', ['--version']).status === 0 ? test : test.skip)(
  'systemd finds nothing wrong in the units',
  () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'exchange-units-'));
    for (const name of ['exchange-web', 'exchange-worker']) {
      const unit = read(`${name}@.service`).replace('/usr/bin/node', process.execPath);
      writeFileSync(path.join(folder, `${name}@.service`), unit);
      const checked = spawnSync('systemd-analyze', ['verify', `${folder}/${name}@3001.service`], {
        encoding: 'utf8',
      });
      const own = checked.stderr.split('\n').filter((line) => line.includes(name));
      expect([checked.status, own]).toEqual([0, []]);
    }
    rmSync(folder, { recursive: true });
  },
);

withNginx('behind nginx', () => {
  let folder: string;
  let redis: DurableRedis;
  let ports: { readonly plain: number; readonly tls: number; readonly web: number; readonly other: number };
  let ca: string;
  let nginx: Started;
  let web: Started;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'exchange-nginx-'));
    redis = await startDurableRedis({ appendonly: 'always', settings: [['maxmemory-policy', 'noeviction']] });
    ports = {
      plain: await freePort(),
      tls: await freePort(),
      web: await freePort(),
      other: await freePort(),
    };
    const certificates = path.join(folder, 'certificates');
    mkdirSync(certificates);
    const issued = issueCertificates(certificates);
    ca = issued.ca;
    writeFileSync(path.join(folder, 'fullchain.pem'), issued.server.cert);
    writeFileSync(path.join(folder, 'privkey.pem'), issued.server.key);
    const site = read('nginx.conf')
      .replaceAll('listen 80;', `listen 127.0.0.1:${ports.plain};`)
      .replaceAll('listen 443 ssl http2;', `listen 127.0.0.1:${ports.tls} ssl http2;`)
      .replace(/ {2}listen \[::\].*\n/g, '')
      .replaceAll('/etc/ssl/exchange', folder)
      .replace('127.0.0.1:3001', `127.0.0.1:${ports.web}`)
      .replace('127.0.0.1:3002', `127.0.0.1:${ports.other}`);
    writeFileSync(
      path.join(folder, 'nginx.conf'),
      [
        ...['daemon off;', `pid ${folder}/nginx.pid;`, 'worker_processes 1;', 'error_log stderr;'],
        `events {} http { access_log off; ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
          .map((name) => `${name}_temp_path ${folder}/${name};`)
          .join(' ')}`,
        site,
        '}',
      ].join('\n'),
    );
    nginx = startProgram('nginx', ['-p', folder, '-e', 'stderr', '-c', path.join(folder, 'nginx.conf')]);
    web = startNode(['dist/web.js'], {
      ...variablesOf('exchange.env'),
      REDIS_URL: redis.url,
      JWT_SECRET: `k1:${TOKEN}`,
      ADMIN_TOKEN: TOKEN,
      PORT: String(ports.web),
    });
    await until('nginx reaches web', async () => (await ask('/readyz')).status === 200, {
      explain: () => nginx.stderr() + web.stdout() + web.stderr(),
    });
  });
  afterAll(async () => {
    web?.child.kill('SIGKILL');
    // Killed, nginx would leave its own processes behind.
    nginx?.child.kill('SIGTERM');
    await Promise.all([web?.exited, nginx?.exited]);
    await redis?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  interface Answer {
    readonly status: number;
    readonly headers: Record<string, unknown>;
    readonly text: string;
  }
  const ask = (target: string, headers: Record<string, string> = {}): Promise<Answer> =>
    new Promise((resolve) => {
      const failed = (error: Error): void => resolve({ status: 0, headers: {}, text: error.message });
      request(
        { host: '127.0.0.1', port: ports.tls, path: target, ca, servername: 'localhost', headers },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (part) => {
            text += part;
          });
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
          );
        },
      )
        .once('error', failed)
        .end();
    });

  test('answers come over TLS, and plain HTTP is sent there', async () => {
    const { status, headers } = await ask('/config');
    expect([status, headers['strict-transport-security']]).toEqual([200, expect.stringContaining('max-age')]);
    const plain = await fetch(`http://127.0.0.1:${ports.plain}/markets?limit=1`, { redirect: 'manual' });
    expect([plain.status, plain.headers.get('location')]).toEqual([
      301,
      'https://exchange.example.com/markets?limit=1',
    ]);
  });

  test.each([
    '/admin/mode',
    '/admin/queues/',
    '/metrics',
    '/metrics/',
    '/operate',
    '/METRICS',
    '/metrics%5C',
    '//metrics',
  ])('the operators’ path %s does not exist outside', async (target) => {
    const { status, text } = await ask(target, { Authorization: `Bearer ${TOKEN}` });
    expect([status, JSON.parse(text).code]).toEqual([404, 'NOT_FOUND']);
  });

  // Parsers read such a target in different ways, so one of them passes a rule that another one enforces.
  test.each(['/metrics\\#', '/metrics#x', '/admin\\mode#', '/markets\\..\\metrics'])(
    'the target %s is malformed',
    async (target) => {
      const { status, text } = await ask(target, { Authorization: `Bearer ${TOKEN}` });
      expect([status, JSON.parse(text).status]).toEqual([400, 400]);
    },
  );

  test('an answer has each header of web once', async () => {
    const { headers } = await ask('/markets');
    expect(headers['strict-transport-security']).toMatch(/^max-age=\d+[^,]*$/);
  });

  test('a socket is upgraded', async () => {
    const socket = new Promise<number>((resolve, reject) => {
      request({
        host: '127.0.0.1',
        port: ports.tls,
        ca,
        servername: 'localhost',
        path: '/socket.io/?EIO=4&transport=websocket',
        headers: {
          Connection: 'Upgrade',
          Upgrade: 'websocket',
          'Sec-WebSocket-Version': '13',
          'Sec-WebSocket-Key': Buffer.alloc(16, 7).toString('base64'),
        },
      })
        .once('upgrade', (response, stream) => {
          stream.destroy();
          resolve(response.statusCode ?? 0);
        })
        .once('response', (response) => resolve(response.statusCode ?? 0))
        .once('error', reject)
        .end();
    });
    expect(await socket).toBe(101);
  });

  test('while no web process answers, the error has the form of web’s problems', async () => {
    web.child.kill('SIGKILL');
    await web.exited;
    const { status, headers, text } = await ask('/markets');
    expect([status, JSON.parse(text).code]).toEqual([503, 'UNAVAILABLE']);
    expect(headers['content-type']).toBe('application/problem+json');
  });
});
