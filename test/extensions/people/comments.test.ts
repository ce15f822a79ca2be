import { createComments } from '../../../src/extensions/people/store/comments';
import type { Answer } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import {
  createTrader,
  type Domain,
  domainOf,
  type Market,
  openMarket,
  type Trader,
} from '../../support/trader';
import { ISO } from '../../support/weather-market';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;
let domain: Domain;
let market: Market & { slug: string };
let alice: Trader;
let bob: Trader;

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
  domain = await domainOf(exchange.client);
  [alice, bob] = [newTrader(0), newTrader(1)];
  await Promise.all([alice.signIn(), bob.signIn()]);
});
beforeEach(async () => {
  market = await openMarket(exchange.client, ADMIN_TOKEN);
});
afterAll(() => exchange?.stop());

const newTrader = (at: number, of = exchange): Trader =>
  createTrader((of.replicas[at as 0] ?? of).client, domain);
const list = async (query = ''): Promise<Answer['body']> =>
  (await exchange.client.get(`/markets/${market.id}/comments${query}`)).body;
const say = (trader: Trader, body: unknown): Promise<Answer> =>
  trader.post(`/markets/${market.id}/comments`, body);

test('a comment can be written, answered, liked and deleted', async () => {
  const first = await say(alice, { body: 'Will it? 🌧️\n“Perhaps.”' });
  expect([first.status, first.body]).toEqual([
    201,
    {
      id: `${market.id}-c1`,
      marketId: market.id,
      parentId: null,
      author: { address: alice.address, username: null, avatarUrl: null },
      body: 'Will it? 🌧️\n“Perhaps.”',
      likes: 0,
      createdAt: ISO,
      deleted: false,
    },
  ]);
  await bob.send('PATCH', '/me/profile', { username: 'bob', avatarUrl: 'https://example.org/b' });
  const answer = await say(bob, { body: 'It will.', parentId: first.body.id });
  expect(answer.body).toMatchObject({
    parentId: first.body.id,
    author: { address: bob.address, username: 'bob', avatarUrl: 'https://example.org/b' },
  });
  const third = await say(alice, { body: 'Says who?', parentId: answer.body.id });
  expect(await list()).toEqual({ data: [third.body, answer.body, first.body], nextCursor: null });
  expect((await exchange.client.get(`/markets/${market.slug}/comments`)).body).toEqual(await list());

  const liked = await alice.post(`/comments/${answer.body.id}/like`);
  expect([liked.status, liked.body]).toEqual([200, { ...answer.body, likes: 1 }]);
  expect((await alice.post(`/comments/${answer.body.id}/like`)).body.likes).toBe(1);
  expect((await bob.post(`/comments/${answer.body.id}/like`)).body.likes).toBe(2);
  // Removing a like changes nothing more, however often.
  for (let i = 0; i < 2; i++) {
    const unliked = await alice.send('DELETE', `/comments/${answer.body.id}/like`);
    expect([unliked.status, unliked.text]).toEqual([204, '']);
    expect((await list()).data[1].likes).toBe(1);
  }

  expect((await alice.send('DELETE', `/comments/${answer.body.id}`)).body.code).toBe('FORBIDDEN');
  const gone = await bob.send('DELETE', `/comments/${answer.body.id}`);
  expect([gone.status, gone.text]).toEqual([204, '']);
  expect((await bob.send('DELETE', `/comments/${answer.body.id}`)).status).toBe(204);
  const { data } = await list();
  expect(data[1]).toEqual({ ...answer.body, body: '', likes: 0, deleted: true });
  expect([data[0].parentId, data.length]).toEqual([answer.body.id, 3]);
  for (const [method, path, body] of [
    ['POST', `/comments/${answer.body.id}/like`, undefined],
    ['DELETE', `/comments/${answer.body.id}/like`, undefined],
    ['POST', `/markets/${market.id}/comments`, { body: 'Late.', parentId: answer.body.id }],
  ] as const) {
    expect((await alice.send(method, path, body)).body.code).toBe('COMMENT_NOT_FOUND');
  }
  expect((await list()).data).toHaveLength(3);
});

test('likes are counted exactly, however many come at once', async () => {
  const { body: comment } = await say(alice, { body: 'Like me.' });
  const traders = Array.from({ length: 6 }, (_, i) => newTrader(i % 2));
  await Promise.all(traders.map((trader) => trader.signIn()));
  await Promise.all(
    traders.flatMap((trader) => Array.from({ length: 3 }, () => trader.post(`/comments/${comment.id}/like`))),
  );
  expect((await list()).data[0].likes).toBe(6);
  await Promise.all(traders.slice(2).map((trader) => trader.send('DELETE', `/comments/${comment.id}/like`)));
  expect((await list()).data[0].likes).toBe(2);
});

test('a walk neither skips nor repeats a comment while comments are added', async () => {
  for (let i = 0; i < 7; i++) await say(alice, { body: `number ${i}` });
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Answer['body'] = await list(`?limit=2${cursor ? `&cursor=${cursor}` : ''}`);
    seen.push(...page.data.map(({ body }: { body: string }) => body));
    cursor = page.nextCursor;
    await say(bob, { body: 'in between' });
    if (seen.length === 4) await alice.send('DELETE', `/comments/${market.id}-c6`);
  } while (cursor !== null);
  expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((i) => `number ${i}`));
  expect((await list('?limit=100000')).data).toHaveLength(11);
});

test('a wallet reads what it wrote in all markets, newest first and without what was deleted', async () => {
  const writer = newTrader(0);
  const other = await openMarket(exchange.client, ADMIN_TOKEN);
  const ids: string[] = [];
  for (let i = 0; i < 7; i++) {
    const { id } = i % 3 === 1 ? other : market;
    ids.unshift((await writer.post(`/markets/${id}/comments`, { body: `number ${i}` })).body.id);
    await say(bob, { body: 'another wallet' });
  }
  const mine = async (query = '', of = writer) => (await of.get(`/me/comments${query}`)).body;
  const all = await mine();
  expect([all.data.map(({ id }: { id: string }) => id), all.nextCursor]).toEqual([ids, null]);
  expect(all.data[0]).toEqual((await list()).data[1]);
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Answer['body'] = await mine(`?limit=2${cursor ? `&cursor=${cursor}` : ''}`);
    seen.push(...page.data.map(({ id }: { id: string }) => id));
    cursor = page.nextCursor;
    // Neither a new comment nor the one at which the walk stands changes the rest of it.
    await say(writer, { body: 'in between' });
    if (seen.length === 4) await writer.send('DELETE', `/comments/${ids[3]}`);
  } while (cursor !== null);
  expect(seen).toEqual(ids);
  expect(
    (await exchange.client.call('DELETE', `/admin/comments/${ids[6]}`, { token: ADMIN_TOKEN })).status,
  ).toBe(204);
  expect((await mine()).data.map(({ id }: { id: string }) => id).slice(4)).toEqual(
    ids.filter((_, i) => i !== 3 && i !== 6),
  );
  expect(await mine('', newTrader(1))).toEqual({ data: [], nextCursor: null });
  expect((await exchange.client.get('/me/comments')).body.code).toBe('UNAUTHORIZED');
  for (const wrong of [
    'x',
    '0-abcdefgh-1',
    `1-${market.id}-0`,
    `1-${market.id}-c1`,
    `${'9'.repeat(15)}-${market.id}-1`,
  ])
    expect((await mine(`?cursor=${wrong}`)).code).toBe('INVALID_CURSOR');
  expect((await mine('?limit=0')).code).toBe('INVALID_LIMIT');
});

test('the list of a wallet keeps its latest thousand comments', async () => {
  const writer = newTrader(0);
  const comments = createComments(exchange.store);
  for (let i = 1; i <= 1_003; i++) await comments.add(market.id, writer.address, `${i}`, 0, null);
  const { body } = await writer.get('/me/comments?limit=200');
  expect(body.data[0].body).toBe('1003');
  let [page, rows] = [body, body.data.length];
  while (page.nextCursor !== null) {
    page = (await writer.get(`/me/comments?limit=200&cursor=${page.nextCursor}`)).body;
    rows += page.data.length;
  }
  expect([rows, page.data.at(-1).body]).toEqual([1_000, '4']);
});

test('a comment that is repeated under its key is added once', async () => {
  const token = await alice.token();
  const headers = { 'idempotency-key': 'once' };
  const send = (body: object = { body: 'Once.' }) =>
    exchange.client.post(`/markets/${market.id}/comments`, { token, headers, body });
  const answers = await Promise.all([send(), send(), send()]);
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  expect(answers.filter((one) => one.headers.get('idempotent-replayed') === 'true')).toHaveLength(2);
  const parentId = answers[0]?.body.id;
  for (const other of [{ body: 'Twice.' }, { body: 'Once.', parentId }])
    expect((await send(other)).body.code).toBe('IDEMPOTENCY_KEY_REUSED');
  expect((await list()).data).toHaveLength(1);
});

describe('an invalid comment is refused, and nothing is added', () => {
  const longest = '🌧'.repeat(2_000);

  test('2000 characters are counted as code points', async () => {
    const { status, body } = await say(alice, { body: longest });
    expect([status, body.body]).toEqual([201, longest]);
  });

  test.each<[string, unknown]>([
    ['nothing', {}],
    ['an empty text', { body: '' }],
    ['spaces', { body: ' \n ' }],
    ['only what cannot be seen', { body: '\u200b\u2060' }],
    ['2001 characters', { body: `${longest}x` }],
    ['NUL', { body: 'a\u0000' }],
    ['a bell', { body: 'ding\u0007' }],
    ['a control of the second set', { body: 'a\u0085b' }],
    ['half a surrogate pair', { body: '\udc00' }],
    ['a turned direction', { body: 'a\u2066b' }],
    ['a number', { body: 7 }],
    ['a list', { body: ['a'] }],
    ['a member nobody knows', { body: 'a', author: 'bob' }],
    ['a parent that is a number', { body: 'a', parentId: 1 }],
    ['a parent without end', { body: 'a', parentId: 'x'.repeat(65) }],
  ])('%s', async (_, body) => {
    const answer = await say(alice, body);
    expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_REQUEST']);
    expect((await list()).data).toEqual([]);
  });

  test('a parent that does not exist or is in another market is refused', async () => {
    const other = await openMarket(exchange.client, ADMIN_TOKEN);
    const { body: theirs } = await alice.post(`/markets/${other.id}/comments`, { body: 'Elsewhere.' });
    const wrong = [theirs.id, `${market.id}-c1`, `${market.id}-c0`, 'x', '', '__proto__', '1'];
    for (const parentId of wrong) {
      const answer = await say(alice, { body: 'a', parentId });
      expect(['COMMENT_NOT_FOUND', 'INVALID_REQUEST']).toContain(answer.body.code);
      expect(answer.status).toBe(parentId === '' ? 400 : 404);
    }
    expect((await list()).data).toEqual([]);
  });

  test('a missing bearer, an unknown market and invalid cursors are refused', async () => {
    const { client } = exchange;
    expect((await client.post(`/markets/${market.id}/comments`, { body: { body: 'a' } })).body.code).toBe(
      'UNAUTHORIZED',
    );
    expect((await client.call('DELETE', `/comments/${market.id}-c1`)).body.code).toBe('UNAUTHORIZED');
    expect((await client.post(`/comments/${market.id}-c1/like`)).body.code).toBe('UNAUTHORIZED');
    expect((await alice.post('/markets/nowhere/comments', { body: 'a' })).body.code).toBe('MARKET_NOT_FOUND');
    expect((await client.get('/markets/nowhere/comments')).body.code).toBe('MARKET_NOT_FOUND');
    for (const id of [
      'x',
      `${market.id}-c1`,
      `${market.id}-c99999999999`,
      'nowhere0-c1',
      `${market.id}-c01`,
    ]) {
      expect((await alice.send('DELETE', `/comments/${id}`)).body.code).toBe('COMMENT_NOT_FOUND');
      expect((await alice.post(`/comments/${id}/like`)).body.code).toBe('COMMENT_NOT_FOUND');
    }
    for (const cursor of ['0', '-1', 'x', '1.5', '99999999999', '']) {
      expect((await list(`?cursor=${cursor}`)).code).toBe('INVALID_CURSOR');
    }
    expect((await list('?limit=0')).code).toBe('INVALID_LIMIT');
    expect((await client.get(`/comments/${market.id}-c1`)).status).toBe(405);
    expect((await alice.post(`/comments/${market.id}-c1/like`, { by: 'bob' })).body.code).toBe(
      'INVALID_REQUEST',
    );
  });
});

test('a wallet may write five comments in a minute, on all replicas together', async () => {
  const limited = await startWebReplicas({ replicas: 2, env: { RATE_LIMIT: 'on' } });
  try {
    const { id } = await openMarket(limited.client, ADMIN_TOKEN);
    const [loud, quiet] = [newTrader(0, limited), newTrader(1, limited)];
    const token = await loud.token();
    const answers: Answer[] = [];
    for (let i = 0; i < 6; i++) {
      const { client } = limited.replicas[(i % 2) as 0] ?? limited;
      answers.push(await client.post(`/markets/${id}/comments`, { token, body: { body: `number ${i}` } }));
    }
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 429]);
    expect(answers[5]?.body.code).toBe('RATE_LIMITED');
    expect(Number(answers[5]?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(answers[5]?.headers.get('ratelimit-policy')).toBe(
      '"comments-by-ip";q=30;w=60, "comments";q=5;w=60',
    );
    expect((await quiet.post(`/markets/${id}/comments`, { body: 'me, too' })).status).toBe(201);
    expect((await limited.client.get(`/markets/${id}/comments`)).body.data).toHaveLength(6);
  } finally {
    await limited.stop();
  }
});
