import { get } from 'node:http';
import { createOperatorAddresses } from '../../../src/http/guard/operator-addresses';
import type { RunningRedis } from '../../../src/local/redis';
import { startTestRedis } from '../../support/redis';
import { ADMIN_TOKEN } from '../../support/settings';
import { type Replica, startReplica } from '../../support/web-replicas';

const PRIVATE = ['loopback', 'linklocal', 'uniquelocal'];

describe('createOperatorAddresses', () => {
  const check = createOperatorAddresses({ operatorAddresses: PRIVATE, trustProxy: 1 });
  const allows = (ip: string, path = '/metrics'): boolean => {
    try {
      check({ ip, path, headers: {} });
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: 'NOT_FOUND' });
      return false;
    }
  };

  test.each([
    '127.0.0.1',
    '127.9.9.9',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '::1',
    'fd00::1',
    '::ffff:10.0.0.1',
    'fe80::1%eth0',
  ])('admits %s by the names of private networks', (ip) => expect(allows(ip)).toBe(true));
  test.each([
    '203.0.113.5',
    '172.32.0.1',
    '2001:db8::1',
    '::ffff:203.0.113.5',
    '',
    'unknown',
    '127.0.0.1.example',
  ])('refuses %s', (ip) => expect(allows(ip)).toBe(false));
  test.each(['/admin', '/admin/mode', '/admin/queues/', '/metrics/', '/operate', '/operate.html'])(
    '%s is an operators’ path',
    (path) => expect(allows('203.0.113.5', path)).toBe(false),
  );
  test.each(['/', '/markets', '/administrators', '/markets/admin', '/metricsx'])('%s is public', (path) =>
    expect(allows('203.0.113.5', path)).toBe(true),
  );
});

describe('a web process in production', () => {
  let redis: RunningRedis;
  let replica: Replica;
  beforeAll(async () => {
    redis = await startTestRedis();
    replica = await startReplica({
      REDIS_URL: redis.url,
      NODE_ENV: 'production',
      ALLOW_WEAK_DURABILITY: '1',
      PUBLIC_BASE_URL: 'http://localhost',
      TRUST_PROXY: '1',
      HOST: '127.0.0.1',
    });
  });
  afterAll(async () => {
    await replica.stop();
    await redis.stop();
  });

  const ask = async (path: string, from?: string) =>
    (
      await fetch(replica.url + path, {
        headers: {
          Authorization: `Bearer ${ADMIN_TOKEN}`,
          ...(from === undefined ? {} : { 'X-Forwarded-For': from }),
        },
      })
    ).status;

  test.each(['/admin/settlements', '/metrics', '/operate', '/admin/queues/', '/readyz?verbose'])(
    '%s exists for a private address, and not for another one, with the token too',
    async (path) => {
      expect(await ask(path)).not.toBe(404);
      expect(await ask(path, '10.0.0.7')).not.toBe(404);
      expect(await ask(path, '203.0.113.5')).toBe(404);
      expect(await ask(path, '10.0.0.7, 203.0.113.5')).toBe(404);
    },
  );

  test('listens at the address of HOST only', async () => {
    const elsewhere = new Promise((resolve, reject) => {
      get(`http://127.0.0.2:${replica.port}/livez`, resolve).once('error', reject);
    });
    await expect(elsewhere).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(await ask('/livez', '203.0.113.5')).toBe(200);
  });
});

test('without a trusted proxy a forwarded request does not reach the operators’ paths', () => {
  const check = createOperatorAddresses({ operatorAddresses: PRIVATE, trustProxy: false });
  const visitor = { ip: '127.0.0.1', path: '/metrics' };
  expect(() => check({ ...visitor, headers: {} })).not.toThrow();
  expect(() => check({ ...visitor, headers: { 'x-forwarded-for': '203.0.113.5' } })).toThrow();
});
