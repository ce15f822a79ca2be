import { Redis } from 'ioredis';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, domainOf } from '../support/trader';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';
import { createShell } from './shell';

let exchange: WebReplicas;
let shell: ReturnType<typeof createShell>;
beforeAll(async () => {
  exchange = await startWebReplicas();
  shell = createShell(exchange.redis.url);
});
afterAll(() => exchange?.stop());

const admin = (path: string) => exchange.client.get(path, { token: ADMIN_TOKEN });

test('commands lead a market from its draft to its end, and the web processes see each step', async () => {
  const { client } = exchange;
  const created = await shell.json(
    ...['markets', 'create', 'Will it snow?', '--slug', 'snow', '--category', 'weather', '--tags', 'a', 'b'],
    ...['--outcomes', 'Snow', 'None', '--tick-size', '0.001', '--fee-rate-bps', '20', '--draft'],
    ...['--resolution-source', 'https://snow.test', '--event-slug', 'winter', '--event-title', 'This winter'],
  );
  expect(created).toMatchObject({ status: 'DRAFT', tags: ['a', 'b'], tickSize: '0.001', feeRateBps: 20 });
  expect(created).toMatchObject({
    resolutionSource: 'https://snow.test',
    event: { slug: 'winter', title: 'This winter' },
  });
  expect((await client.get('/markets/snow')).body.code).toBe('MARKET_NOT_FOUND');

  const steps = [
    ['open', 'OPEN'],
    ['pause', 'PAUSED'],
    ['resume', 'OPEN'],
  ] as const;
  for (const [step, status] of steps) {
    expect(await shell.exchange('markets', step, 'snow')).toEqual({
      code: 0,
      err: '',
      out: `${created.id}  ${status}  Will it snow?\n`,
    });
    expect((await client.get('/markets/snow')).body.status).toBe(status);
  }
  const alice = createTrader(client, await domainOf(client));
  const limit = { side: 'BUY', outcome: 0, pips: 4_000, lots: 1_000 } as const;
  const placed = await alice.submit(created, limit, { more: { feeRateBps: '20' } });
  expect(placed.body.status).toBe('OPEN');

  const resolved = await shell.json(
    'markets',
    'resolve',
    created.conditionId,
    '--outcome',
    'sNOW',
    '--evidence',
    'https://snow.test/1',
    '--confirm',
    'Snow',
  );
  expect(resolved).toMatchObject({
    status: 'RESOLVED',
    resolution: { outcomeIndex: 0, evidence: 'https://snow.test/1' },
  });
  expect((await client.get(`/orders/${placed.body.orderHash}`)).body.reason).toBe('MARKET_CLOSED');
  const again = await shell.exchange('markets', 'void', 'snow', '--yes');
  expect([again.code, again.out]).toEqual([3, '']);
  expect(again.err).toMatch(/^error: MARKET_NOT_OPEN: .*\n$/);

  expect(
    (await shell.json('markets', 'list', '--status', 'RESOLVED')).map(({ id }: { id: string }) => id),
  ).toEqual([created.id]);
  expect(await shell.json('markets', 'list', '--status', 'OPEN')).toEqual([]);
  expect((await shell.json('markets', 'show', 'snow')).id).toBe(created.id);
  expect((await createShell(exchange.redis.url, {}, true).exchange('markets', 'list')).out).toMatch(
    /^ID {8}STATUS .*\n.{4}\w{8}.{5} {2}RESOLVED /,
  );
  expect((await shell.exchange('markets', 'list')).out).toMatch(
    /^ID {8}STATUS .*\n\w{8} {2}RESOLVED .* Will it snow\?\n$/,
  );
});

test('web processes obey the mode that a command sets, and the log contains every command', async () => {
  const { client } = exchange;
  const market = await shell.json('markets', 'create', 'Will it rain?');
  expect((await shell.exchange('mode')).out).toBe('NORMAL\n');
  expect(await shell.json('mode', 'CANCEL_ONLY', '--message', 'Back at noon.')).toEqual({
    mode: 'CANCEL_ONLY',
    message: 'Back at noon.',
  });
  expect((await shell.exchange('mode')).out).toBe('CANCEL_ONLY  Back at noon.\n');
  expect((await client.get('/config')).body.message).toBe('Back at noon.');
  const bob = createTrader(client, await domainOf(client));
  const refused = await bob.submit(market, { side: 'BUY', outcome: 0, pips: 4_000, lots: 1_000 });
  expect(refused.body.code).toBe('CANCEL_ONLY');
  expect((await shell.exchange('mode', 'NORMAL')).out).toBe('NORMAL\n');

  await shell.exchange('markets', 'open', market.id);
  const { data } = (await admin('/admin/log')).body;
  const told = data.slice(0, 4).map(({ action, status, code, address }: Record<string, unknown>) => ({
    action,
    status,
    code,
    address,
  }));
  const local = { address: 'local', code: null };
  expect(told).toEqual([
    { action: 'POST /admin/markets/{id}/open', status: 200, ...local },
    { action: 'PUT /admin/mode', status: 200, ...local },
    { action: 'PUT /admin/mode', status: 200, ...local },
    { action: 'POST /admin/markets', status: 200, ...local },
  ]);
});

test('the audit reports in words and as JSON, and its exit code shows whether it found a difference', async () => {
  const healthy = await shell.exchange('audit');
  expect(healthy).toEqual({ code: 0, err: '', out: expect.stringMatching(/^ok: \d+ orders, .* fills\n$/) });
  const { redis } = exchange;
  const client = new Redis(redis.url);
  await client.hincrby('{x0}:sum', 'granted', 1_000_000);
  const broken = await shell.exchange('audit');
  expect(broken.code).toBe(1);
  expect(broken.out).toMatch(/^KIND .*\nCOLLATERAL_TOTAL .*\n1 differences in .*\n$/);
  const report = JSON.parse((await shell.exchange('--json', 'audit')).out);
  expect(report).toEqual((await admin('/admin/audit')).body);
  const { out } = await createShell(redis.url, {}, true).exchange('audit');
  expect(out).toContain('\x1b[31m1 differences\x1b[39m in ');
  await client.hincrby('{x0}:sum', 'granted', -1_000_000);
  client.disconnect();
});

test('a mistyped command prints one line and changes nothing', async () => {
  await shell.json('markets', 'create', 'Will it hail?', '--slug', 'hail');
  const bob = createTrader(exchange.client, await domainOf(exchange.client));
  expect((await bob.post('/markets/hail/split', { size: '10' })).status).toBe(200);
  const before = (await admin('/admin/log')).body.data.length;
  const bad: readonly (readonly [code: number, told: RegExp, words: readonly string[]])[] = [
    [2, /./, []],
    [2, /unknown command 'market'/, ['market', 'list']],
    [2, /unknown option '--jsn'/, ['audit', '--jsn']],
    [2, /too many arguments/, ['audit', 'now']],
    [2, /missing required argument 'market'/, ['markets', 'pause']],
    [2, /--outcome <name>' not specified/, ['markets', 'resolve', 'snow', '--yes']],
    [
      3,
      /--outcome must be "Snow" or "None", not "Rain"/,
      ['markets', 'resolve', 'snow', '--outcome', 'Rain'],
    ],
    [
      3,
      /INVALID_REQUEST: confirm must be "No"/,
      ['markets', 'resolve', 'hail', '--outcome', 'no', '--confirm', 'Yes'],
    ],
    [
      2,
      /resolve hail, "Will it hail\?": "No" has won, which pays 1 of 1 holders: .*--yes/,
      ['markets', 'resolve', 'hail', '--outcome', 'no'],
    ],
    [2, /Allowed choices are NORMAL/, ['mode', 'normal']],
    [2, /hexadecimal/, ['settlements', 'acknowledge', 'x', '--tx', '0x12']],
    [3, /MARKET_NOT_FOUND: there is no market "sonw"/, ['markets', 'close', 'sonw', '--yes']],
    [3, /MARKET_NOT_FOUND/, ['markets', 'show', `0x${'00'.repeat(32)}`]],
    [3, /MARKET_NOT_FOUND: there is no market "\.\."/, ['settlements', 'export', '--market', '..']],
    [3, /INVALID_REQUEST: question/, ['markets', 'create', '']],
    [3, /INVALID_REQUEST: tickSize/, ['markets', 'create', 'a', '--tick-size', '0.02']],
    [3, /INVALID_REQUEST: closesAt/, ['markets', 'create', 'a', '--closes-at', 'tomorrow']],
    [3, /INVALID_ADDRESS/, ['markets', 'create', 'a', '--oracle', '0x12']],
    [3, /slug belongs to another market/, ['markets', 'create', 'a', '--slug', 'hail']],
    [
      3,
      /is not the id of a settlement/,
      ['settlements', 'acknowledge', 'x-1-s0', '--tx', `0x${'ab'.repeat(32)}`, '--yes'],
    ],
    [
      3,
      /NOT_FOUND/,
      ['settlements', 'acknowledge', '00000000-1-s0', '--tx', `0x${'ab'.repeat(32)}`, '--yes'],
    ],
  ];
  for (const [code, told, words] of bad) {
    const said = await shell.exchange(...words);
    expect([words, said.code, said.out]).toEqual([words, code, '']);
    expect(said.err).toMatch(told);
    if (words.length > 0) expect(said.err).toMatch(/^error: [^\n]+\n$/);
  }
  expect((await admin('/admin/log')).body.data.length).toBe(before + 1);
});
