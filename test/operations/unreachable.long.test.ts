import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunningRedis } from '../../src/local/redis';
import { createShell } from '../cli/shell';
import {
  hasOpenssl,
  issueCertificates,
  signOwnCertificate,
  startTlsFront,
  type TlsFront,
} from '../support/certificates';
import { startTestRedis } from '../support/redis';

/** For each cause of an unreachable Redis, the doctor names the host and a remedy. */
const folder = mkdtempSync(path.join(tmpdir(), 'exchange-unreachable-'));
let redis: RunningRedis;
beforeAll(async () => {
  redis = await startTestRedis({ settings: [['requirepass', 'right']] });
});
afterAll(async () => {
  await redis.stop();
  rmSync(folder, { recursive: true });
});

async function seen(url: string, env = {}): Promise<string> {
  const { code, out, err } = await createShell(url, env).exchange('doctor');
  expect([code, err]).toEqual([4, '']);
  expect(out.trimEnd().split('\n')).toHaveLength(1);
  return out;
}

test('the doctor names the host and the cause, whatever keeps Redis from responding', async () => {
  const [refused, unknown, wrong, plain, json] = await Promise.all([
    seen('redis://127.0.0.1:1'),
    seen('redis://nowhere.invalid:6380'),
    seen(`redis://:wrong-secret@127.0.0.1:${redis.port}`),
    seen(`rediss://:right@127.0.0.1:${redis.port}`),
    createShell('redis://127.0.0.1:1').exchange('doctor', '--json'),
  ]);
  expect(refused).toMatch(
    /^fail {2}redis {2}Redis at 127\.0\.0\.1:1 did not answer .*: nothing listens there \(connect ECONNREFUSED 127\.0\.0\.1:1\); start it/,
  );
  expect(unknown).toMatch(/Redis at nowhere\.invalid:6380 .*: its name is unknown \(/);
  expect(wrong).toMatch(/: it refuses the user or the password of REDIS_URL \(WRONGPASS/);
  expect(wrong).not.toContain('wrong-secret');
  expect(plain).toMatch(/: it (cannot be reached, or it speaks no TLS|does not speak TLS)/);
  expect(JSON.parse(json.out)).toMatchObject({ ok: false, checks: [{ name: 'redis', verdict: 'fail' }] });
});

const withTls = hasOpenssl ? describe : describe.skip;

withTls('with certificates that Node does not trust (left out where openssl is not installed)', () => {
  const fronts: TlsFront[] = [];
  afterAll(() => Promise.all(fronts.map((front) => front.stop())));

  const front = async (certificate: { cert: string; key: string }): Promise<string> => {
    const started = await startTlsFront(redis.port, certificate);
    fronts.push(started);
    return `127.0.0.1:${started.port}`;
  };

  test('the doctor names the variable for the CA, and reaches the Redis with it', async () => {
    const { ca, server } = issueCertificates(folder);
    const url = `rediss://:right@${await front(server)}`;
    const { ca: another } = issueCertificates(mkdtempSync(path.join(folder, 'another-')));
    const untrusted = /: its certificate is not trusted: put its CA into REDIS_TLS_CA/;
    const [without, other, plain] = await Promise.all([
      seen(url),
      seen(url, { REDIS_TLS_CA: another }),
      seen(url.replace('rediss:', 'redis:')),
    ]);
    expect(without).toMatch(untrusted);
    expect(other).toMatch(untrusted);
    expect(plain).toMatch(/: it closes the connection/);
    const inOneLine = ca.trim().replaceAll('\n', '\\n');
    for (const REDIS_TLS_CA of [ca, inOneLine]) {
      const { code, out } = await createShell(url, { REDIS_TLS_CA }).exchange('doctor');
      expect([code, out]).toEqual([0, expect.stringMatching(/^ok +scripts/m)]);
    }
  });

  test('a self-signed server with another name is trusted by its certificate, and no other server is', async () => {
    const own = signOwnCertificate(folder);
    const url = `rediss://:right@${await front(own)}`;
    expect((await createShell(url, { REDIS_TLS_CA: own.cert }).exchange('doctor')).code).toBe(0);
    const impostor = signOwnCertificate(mkdtempSync(path.join(folder, 'impostor-')));
    expect(await seen(url, { REDIS_TLS_CA: impostor.cert })).toMatch(/: its certificate is not trusted/);
  });
});
