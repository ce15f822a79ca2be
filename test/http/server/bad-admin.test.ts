import type { Answer, Sent } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import { type Market, openMarket } from '../../support/trader';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

/** Hostile and mistaken requests of operators are refused with a problem and change nothing. */
let exchange: WebReplicas;
let market: Market;
let before: string;

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  before = await state();
});
afterAll(() => exchange.stop());

async function state(): Promise<string> {
  const { client } = exchange;
  const token = ADMIN_TOKEN;
  const [body, config, log] = await Promise.all([
    client.get(`/markets/${market.id}`),
    client.get('/config'),
    client.get('/admin/log', { token }),
  ]);
  return JSON.stringify([body.body, config.body.mode, log.body.data.length]);
}

const ask = (method: string, path: string, sent: Sent): Promise<Answer> =>
  exchange.client.call(method, path.replace('{id}', market.id), { token: ADMIN_TOKEN, ...sent });

const PATCH = ['PATCH', '/admin/markets/{id}'] as const;
const RESOLVE = ['POST', '/admin/markets/{id}/resolve'] as const;
const VOID = ['POST', '/admin/markets/{id}/void'] as const;
const MODE = ['PUT', '/admin/mode'] as const;

const BODIES: readonly (readonly [readonly [string, string], readonly unknown[]])[] = [
  [
    PATCH,
    [
      ...[null, [], 'text', 7, true, { id: 'x' }, { status: 'RESOLVED' }, { slug: 'other' }, { typo: 1 }],
      ...[{ question: '' }, { question: '   ' }, { question: null }, { question: 7 }, { question: ['a'] }],
      ...[{ question: 'x'.repeat(501) }, { description: null }, { description: 'x'.repeat(10_001) }],
      ...[{ question: 'half \ud800' }, { description: '\udc00 half' }],
      ...[{ category: 'Not A Slug' }, { category: '' }, { category: 'x'.repeat(33) }, { category: null }],
      ...[{ tags: 'a' }, { tags: ['a', 'a'] }, { tags: [1] }, { tags: ['A b'] }, { tags: null }],
      ...[{ tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }, { tags: { 0: 'a' } }],
      ...[{ imageUrl: 'http://images.test/1' }, { imageUrl: 'javascript:alert(1)' }, { imageUrl: '' }],
      ...[{ imageUrl: 'data:text/html,x' }, { imageUrl: `https://x.test/${'y'.repeat(2_048)}` }],
      ...[{ imageUrl: 'https://' }, { imageUrl: '//images.test/1' }, { imageUrl: {} }, { imageUrl: 1 }],
      ...[{ closesAt: 'tomorrow' }, { closesAt: 1_900_000_000_000 }, { closesAt: '' }, { closesAt: '2030' }],
      ...[{ closesAt: '2030-02-30' }, { closesAt: '2030-13-01' }, { closesAt: '2030-01-01T25:00:00Z' }],
      ...[{ closesAt: '2030-01-01T10:00' }, { closesAt: '+275760-09-13T00:00:00Z' }, { closesAt: [] }],
      ...[{ closesAt: '2030-01-01T10:00:00+99:99' }, { description: 'good', closesAt: 'bad' }],
    ],
  ],
  [
    RESOLVE,
    [
      ...[null, [], [0], 0, '0', {}, { outcomeIndex: null }, { outcomeIndex: '0' }, { outcomeIndex: true }],
      ...[{ outcomeIndex: 2 }, { outcomeIndex: -1 }, { outcomeIndex: 0.5 }, { outcomeIndex: [0] }],
      ...[
        { outcomeIndex: {} },
        { outcomeIndex: 0, payouts: ['1', '0'] },
        { outcome: 0 },
        { outcomeindex: 0 },
      ],
    ],
  ],
  [VOID, [[], 'void', 1, { outcomeIndex: null }, { reason: 'rain' }]],
  [
    MODE,
    [
      ...[null, [], 'HALTED', {}, { mode: null }, { mode: '' }, { mode: 'halted' }, { mode: 'HALTED ' }],
      ...[{ mode: 2 }, { mode: ['HALTED'] }, { mode: {} }, { mode: 'HALTED', until: 1 }, { Mode: 'HALTED' }],
      ...[{ mode: 'toString' }, { mode: '__proto__' }],
    ],
  ],
];

test.each(BODIES.map((row) => [row[0].join(' '), row] as const))(
  '%s: bodies of the wrong shape',
  async (_, [[method, path], bodies]) => {
    for (const body of bodies) {
      const answer = await ask(method, path, { raw: JSON.stringify(body) });
      const shown = [body, answer.status, answer.body.code];
      expect(shown).toEqual([body, 400, body === null ? expect.any(String) : 'INVALID_REQUEST']);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
    }
    expect(await state()).toBe(before);
  },
);

const RAW: readonly (readonly [string, string | Uint8Array<ArrayBuffer>, string])[] = [
  ['no JSON', '{"mode":', 'INVALID_JSON'],
  ['a member twice', '{"mode":"NORMAL","mode":"HALTED"}', 'INVALID_JSON'],
  ['a prototype', '{"__proto__":{"mode":"HALTED"}}', 'INVALID_REQUEST'],
  ['a number beyond all', '{"outcomeIndex":1e400}', 'INVALID_REQUEST'],
  ['a deep nest', `${'['.repeat(5_000)}${']'.repeat(5_000)}`, 'INVALID_REQUEST'],
  ['half a character', new Uint8Array([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]), 'INVALID_JSON'],
  ['nothing', '', 'INVALID_JSON'],
];

test.each(RAW)('%s is refused everywhere', async (_, raw, code) => {
  for (const [method, path] of [PATCH, RESOLVE, MODE]) {
    const answer = await ask(method, path, { raw, headers: { 'content-type': 'application/json' } });
    expect([path, answer.status, answer.body.code]).toEqual([path, 400, code]);
  }
  expect(await state()).toBe(before);
});

test('bodies with too much, the wrong type, the wrong method, the wrong name or no token are refused', async () => {
  const answers = await Promise.all([
    ask(...RESOLVE, { raw: `{"outcomeIndex":0,"x":"${'x'.repeat(20_000)}"}` }),
    ask(...PATCH, { raw: `{"description":"${'x'.repeat(300_000)}"}` }),
    ask(...MODE, { raw: 'mode=HALTED', headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
    ask('GET', '/admin/mode', {}),
    ask('POST', '/admin/mode', { body: { mode: 'HALTED' } }),
    ask('DELETE', '/admin/markets/{id}', {}),
    ask('GET', '/admin/markets/{id}/resolve', {}),
    exchange.client.call('PATCH', `/admin/markets/${market.id}`, { body: { question: 'Free?' } }),
    exchange.client.call('PUT', '/admin/mode', { body: { mode: 'HALTED' }, token: `${ADMIN_TOKEN}0` }),
    exchange.client.get('/admin/log'),
  ]);
  expect(answers.map(({ status, body }) => `${status} ${body.code}`)).toEqual([
    '413 PAYLOAD_TOO_LARGE',
    '413 PAYLOAD_TOO_LARGE',
    '415 UNSUPPORTED_MEDIA_TYPE',
    '405 METHOD_NOT_ALLOWED',
    '405 METHOD_NOT_ALLOWED',
    '405 METHOD_NOT_ALLOWED',
    '405 METHOD_NOT_ALLOWED',
    '401 UNAUTHORIZED',
    '401 TOKEN_INVALID',
    '401 UNAUTHORIZED',
  ]);
  expect(await state()).toBe(before);
});

test('unknown markets are not found', async () => {
  for (const id of ['none', '%00', '__proto__', 'x'.repeat(500), `0x${'0'.repeat(64)}`, '..%2f..%2fmode']) {
    for (const [method, path, body] of [
      [...PATCH, { question: 'Is it there?' }],
      [...RESOLVE, { outcomeIndex: 0 }],
      [...VOID, {}],
    ] as const) {
      const answer = await exchange.client.call(method, path.replace('{id}', id), {
        token: ADMIN_TOKEN,
        body,
      });
      expect([id, answer.status, answer.body.code]).toEqual([id, 404, 'MARKET_NOT_FOUND']);
    }
  }
  expect(JSON.parse(await state()).slice(0, 2)).toEqual(JSON.parse(before).slice(0, 2));
});
