import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import { scriptSources } from '../../src/store/redis/scripts';
import { startProxy, type Proxy as TcpProxy } from '../support/proxy';
import { startTestRedis } from '../support/redis';
import { createShell } from './shell';

/** Commands whose replies are lost after they ran, or that a full Redis refuses: the operator reads what became of them. */
let redis: Awaited<ReturnType<typeof startTestRedis>>;
let direct: ReturnType<typeof createShell>;
const proxies: TcpProxy[] = [];
const DELAY = { RESOLVE_DELAY: '600' };
beforeAll(async () => {
  redis = await startTestRedis();
  direct = createShell(redis.url, DELAY);
  // Redis knows the scripts, so that each runs at its first call through the proxy.
  await direct.json('markets', 'create', 'Will it snow?', '--slug', 'snow');
  await direct.json('markets', 'resolve', 'snow', '--outcome', 'no', '--yes');
});
afterAll(async () => {
  await Promise.all(proxies.map((proxy) => proxy.stop()));
  await redis?.stop();
});

/** A way to Redis for one story, and the command line that takes it. The stories that wait for a reply wait together. */
async function openWay() {
  const proxy = await startProxy(redis.port);
  proxies.push(proxy);
  return { proxy, shell: createShell(`redis://127.0.0.1:${proxy.port}`, DELAY) };
}

/** The text with which a client runs the script. */
const callOf = (script: string): Buffer =>
  Buffer.from(
    createHash('sha1')
      .update(scriptSources().get(script) ?? '')
      .digest('hex'),
  );

const statusOf = async (name: string): Promise<string> => (await direct.json('markets', 'show', name)).status;

test.concurrent('a result whose reply is lost may be there, and repeating it is done once', async () => {
  const { proxy, shell } = await openWay();
  const { id } = await direct.json('markets', 'create', 'Will it rain?', '--slug', 'rain');
  const resolve = ['markets', 'resolve', 'rain', '--outcome', 'yes', '--yes'];
  proxy.holdRepliesFrom([callOf('resolve_market')]);
  expect(await shell.exchange(...resolve)).toEqual({
    code: 4,
    out: '',
    err: `error: Redis: Command timed out; it may have been done: see "markets show ${id}", or repeat the command, which does no harm\n`,
  });
  proxy.heal();
  expect(await statusOf('rain')).toBe('RESOLVED');
  expect((await shell.exchange(...resolve)).code).toBe(0);
});

test.concurrent('a market whose creation is not answered is looked for before it is created again', async () => {
  const { proxy, shell } = await openWay();
  proxy.holdRepliesFrom([callOf('create_market')]);
  const { code, err } = await shell.exchange('markets', 'create', 'Will it hail?', '--slug', 'hail');
  expect([code, err]).toEqual([
    4,
    'error: Redis: Command timed out; it may have been done: see "markets list" before you repeat the command\n',
  ]);
  expect(await statusOf('hail')).toBe('OPEN');
});

test.concurrent('a command that could not be recorded was not run', async () => {
  const { proxy, shell } = await openWay();
  await direct.json('markets', 'create', 'Will it thaw?', '--slug', 'thaw');
  proxy.holdRepliesFrom([callOf('note_action')]);
  const { code, err } = await shell.exchange('markets', 'pause', 'thaw');
  expect([code, err]).toEqual([
    4,
    'error: Redis: Command timed out; nothing was done; repeat the command, which does no harm\n',
  ]);
  expect(await statusOf('thaw')).toBe('OPEN');
});

test.concurrent('a command is done when only its result cannot be read', async () => {
  const { proxy, shell } = await openWay();
  await direct.json('markets', 'create', 'Will it melt?', '--slug', 'melt');
  proxy.holdRepliesFrom([Buffer.from('"status":200')]);
  const { code, err } = await shell.exchange('markets', 'pause', 'melt');
  expect([code, err]).toEqual([
    4,
    expect.stringMatching(
      /^error: Redis: .*; the command was done, and only its result could not be read\n$/,
    ),
  ]);
  expect(await statusOf('melt')).toBe('PAUSED');
});

test('commands that need room in a full Redis say that it is full, and others work', async () => {
  const own = new Redis(redis.url);
  await own.config('SET', 'maxmemory', '1');
  try {
    for (const words of [
      ['markets', 'create', 'Will it pour?'],
      ['history', 'rebuild'],
    ])
      expect(await direct.exchange(...words)).toEqual({
        code: 4,
        out: '',
        err: 'error: Redis is full, and refused what the command needs: raise its maxmemory (docs/run/runbook.md#exchangeredisfull), then repeat the command\n',
      });
    expect(await direct.json('markets', 'unresolve', 'snow')).toMatchObject({ status: 'PAUSED' });
    expect(await direct.json('markets', 'resolve', 'snow', '--outcome', 'yes', '--yes')).toMatchObject({
      status: 'RESOLVED',
    });
  } finally {
    await own.config('SET', 'maxmemory', '0');
    own.disconnect();
  }
});
