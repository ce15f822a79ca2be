import type { Answer } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

/** Events of markets, their sources and the evidence of their ends. */
let exchange: WebReplicas;
beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
});
afterAll(() => exchange.stop());

const admin = (method: string, path: string, body: object): Promise<Answer> =>
  exchange.client.call(method, `/admin/${path}`, { body, token: ADMIN_TOKEN });
const create = (body: object): Promise<Answer> =>
  admin('POST', 'markets', { question: 'Who wins?', ...body });
const SOURCE = 'https://results.test/final';
const EVIDENCE = 'https://results.test/final/1?lang=en#score';

test('the markets of an event are listed together, the oldest first, on every replica at once', async () => {
  const event = { slug: 'final-2030', title: 'Who wins the final? ¡Ole!' };
  const ids: string[] = [];
  for (const question of ['Lakers?', 'Celtics?', 'Neither?']) {
    const { status, body } = await create({ question, event });
    expect([status, body.event]).toEqual([201, event]);
    ids.push(body.id);
    for (const { client } of exchange.replicas) {
      const listed = await client.get('/events/final-2030');
      expect([listed.status, listed.body.slug, listed.body.title]).toEqual([200, event.slug, event.title]);
      expect(listed.body.markets.map(({ id }: { id: string }) => id)).toEqual(ids);
    }
  }
  const draft = await create({ question: 'Later?', event, draft: true });
  expect((await exchange.client.get('/events/final-2030')).body.markets).toHaveLength(3);
  await admin('POST', `markets/${draft.body.id}/open`, {});
  const { markets } = (await exchange.client.get('/events/final-2030')).body;
  expect(markets).toHaveLength(4);
  expect(markets[0]).toEqual((await exchange.client.get(`/markets/${ids[0]}`)).body);
});

test('an event has one title, and another title is refused with the present one', async () => {
  await create({ event: { slug: 'one-title', title: 'As it is' } });
  const refused = await create({ event: { slug: 'one-title', title: 'Another' } });
  expect([refused.status, refused.body.code]).toEqual([400, 'INVALID_REQUEST']);
  expect(refused.body.errors).toEqual([
    { path: 'event.title', message: 'must be "As it is", as in the other markets of this event' },
  ]);
  expect((await exchange.client.get('/events/one-title')).body.markets).toHaveLength(1);
});

test('an event has at most fifty markets, even if they are created at once', async () => {
  const event = { slug: 'crowded', title: 'A crowd' };
  const answers = await Promise.all(Array.from({ length: 53 }, () => create({ event })));
  const codes = answers.map(({ status }) => status);
  expect([
    codes.filter((status) => status === 201).length,
    codes.filter((status) => status === 400).length,
  ]).toEqual([50, 3]);
  const refused = answers.find(({ status }) => status === 400);
  expect(refused?.body.errors).toEqual([{ path: 'event', message: 'has no place left' }]);
  expect((await exchange.client.get('/events/crowded')).body.markets).toHaveLength(50);
});

test('an event without a listed market is not found, and a market without an event has null', async () => {
  const { body } = await create({});
  expect([body.event, body.resolutionSource, body.resolution]).toEqual([null, null, null]);
  await create({ event: { slug: 'drafts-only', title: 'Drafts' }, draft: true });
  for (const slug of ['drafts-only', 'none', '%20', 'a'.repeat(200)]) {
    const { status, body: problem } = await exchange.client.get(`/events/${slug}`);
    expect([slug, status, problem.code]).toEqual([slug, 404, 'EVENT_NOT_FOUND']);
  }
});

test('an event that is not a slug and a title is refused', async () => {
  for (const event of [
    'final',
    {},
    { slug: 'a' },
    { title: 'a' },
    { slug: 'A b', title: 'a' },
    { slug: 'a', title: '' },
  ]) {
    const { status, body } = await create({ event });
    expect([event, status, body.code]).toEqual([event, 400, 'INVALID_REQUEST']);
  }
});

test('a market gets its source at its creation or by an edit, as https only', async () => {
  const { body } = await create({ resolutionSource: SOURCE });
  expect(body.resolutionSource).toBe(SOURCE);
  const edit = (resolutionSource: unknown) => admin('PATCH', `markets/${body.id}`, { resolutionSource });
  expect((await edit(null)).body.resolutionSource).toBeNull();
  expect((await edit(EVIDENCE)).body.resolutionSource).toBe(EVIDENCE);
  for (const wrong of [
    'http://results.test',
    'javascript:alert(1)',
    'results.test',
    '',
    5,
    `https://a.test/${'x'.repeat(2_048)}`,
  ]) {
    expect([wrong, (await edit(wrong)).body.code]).toEqual([wrong, 'INVALID_REQUEST']);
    expect([wrong, (await create({ resolutionSource: wrong })).body.code]).toEqual([
      wrong,
      'INVALID_REQUEST',
    ]);
    const resolved = await admin('POST', `markets/${body.id}/resolve`, { outcomeIndex: 0, evidence: wrong });
    expect([wrong, resolved.body.code]).toEqual([wrong, 'INVALID_REQUEST']);
  }
  expect((await exchange.client.get(`/markets/${body.id}`)).body).toMatchObject({
    resolutionSource: EVIDENCE,
    status: 'OPEN',
  });
});

test('the evidence of a resolution is that of the first call, on every replica', async () => {
  const { body } = await create({});
  const resolve = (more: object) => admin('POST', `markets/${body.id}/resolve`, { outcomeIndex: 1, ...more });
  expect((await resolve({ evidence: EVIDENCE })).body.resolution).toMatchObject({
    outcomeIndex: 1,
    evidence: EVIDENCE,
  });
  expect((await resolve({ evidence: SOURCE })).body.resolution.evidence).toBe(EVIDENCE);
  for (const { client } of exchange.replicas) {
    expect((await client.get(`/markets/${body.id}`)).body.resolution.evidence).toBe(EVIDENCE);
  }
  const audit = await exchange.client.get('/admin/audit', { token: ADMIN_TOKEN });
  expect(audit.body).toMatchObject({ ok: true, differences: [] });
});

test('a void market and a resolution without evidence have none', async () => {
  const [resolved, voided] = [(await create({})).body.id, (await create({})).body.id];
  const { body } = await admin('POST', `markets/${resolved}/resolve`, { outcomeIndex: 0 });
  expect(body.resolution).toMatchObject({ outcomeIndex: 0, evidence: null });
  expect((await admin('POST', `markets/${voided}/void`, {})).body.resolution.evidence).toBeNull();
});

test('a market of an older layout is shown, edited and resolved without the members it lacks', async () => {
  const { body } = await create({ slug: 'of-layout-two' });
  const { redis, keys } = exchange.store;
  const stored = JSON.parse((await redis.hget(keys.markets, body.id)) ?? '');
  delete stored.terms.event;
  delete stored.texts.resolutionSource;
  await redis.hset(keys.markets, body.id, JSON.stringify(stored));
  const later = await exchange.replicas[1]?.client.get('/markets/of-layout-two');
  expect(later?.body).toEqual(body);
  const edited = await admin('PATCH', `markets/${body.id}`, { resolutionSource: SOURCE });
  expect(edited.body).toMatchObject({ resolutionSource: SOURCE, event: null });
  const ended = await admin('POST', `markets/${body.id}/resolve`, { outcomeIndex: 0, evidence: EVIDENCE });
  expect(ended.body.resolution.evidence).toBe(EVIDENCE);
});
