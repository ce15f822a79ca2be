import { type Listener, listen } from '../support/listener';
import { ADMIN_TOKEN } from '../support/settings';
import { eventually } from '../support/waiting';
import { type Replica, startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** `subscribe { markets: true }`: sockets that follow the list of markets, at the replica that creates none. */
let exchange: WebReplicas;
let replicas: [Replica, Replica];
const open: Listener[] = [];

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 0, durable: true });
  replicas = [await exchange.replica(), await exchange.replica()];
});
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});
afterAll(() => exchange.stop());

async function listener(): Promise<Listener> {
  const one = await listen(replicas[1].url);
  open.push(one);
  return one;
}
const admin = async (method: string, path: string, body?: unknown) =>
  (
    await replicas[0].client.call(method, `/admin/markets${path}`, {
      token: ADMIN_TOKEN,
      ...(body === undefined ? {} : { body }),
    })
  ).body;

test('a follower of the list receives new markets and every change of a market, once', async () => {
  const one = await listener();
  expect(await one.ask('subscribe', { markets: true })).toEqual({
    ok: true,
    subscribed: [],
    markets: true,
    epoch: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
  const market = await admin('POST', '', { question: 'Will it snow?' });
  expect(await one.heard('market:new')).toEqual(market);
  await admin('POST', `/${market.id}/pause`);
  expect(await one.heard('market:update')).toMatchObject({ id: market.id, status: 'PAUSED' });
  await one.ask('subscribe', market.conditionId);
  await admin('POST', `/${market.id}/resume`);
  expect(await one.heard('market:update', 2)).toMatchObject({ id: market.id, status: 'OPEN' });
  const other = await admin('POST', '', { question: 'Will it hail?' });
  expect(await one.heard('market:new', 2)).toEqual(other);
  expect(one.all('market:update')).toHaveLength(2);
});

test('a draft is a new market when it is opened, and not before', async () => {
  const one = await listener();
  await one.ask('subscribe', { markets: true });
  const draft = await admin('POST', '', { question: 'Will it thaw?', draft: true });
  await admin('PATCH', `/${draft.id}`, { description: 'By noon.' });
  await admin('POST', `/${draft.id}/open`);
  expect(await one.heard('market:new')).toMatchObject({ id: draft.id, status: 'OPEN' });
  // An update of its description may follow: the replica read that change when the market was open.
  expect(one.told[0]?.[0]).toBe('market:new');
});

test('a socket that has left the list, or never followed it, receives nothing of it', async () => {
  const [gone, never, stays] = [await listener(), await listener(), await listener()];
  for (const one of [gone, stays]) await one.ask('subscribe', { markets: true });
  expect(await gone.ask('unsubscribe', { markets: true })).toEqual({
    ok: true,
    unsubscribed: [],
    markets: true,
  });
  const { id } = await admin('POST', '', { question: 'Will it freeze?' });
  await eventually(
    async () => stays.told,
    (told) => expect(told.map(([, market]) => market)).toContainEqual(expect.objectContaining({ id })),
  );
  // News of a market of an earlier test may have reached a socket before it left.
  for (const one of [gone, never])
    expect(one.told.map(([, market]) => market)).not.toContainEqual(expect.objectContaining({ id }));
});

test.each([
  ['false', { markets: false }],
  ['a market besides', { markets: true, conditionId: `0x${'0'.repeat(64)}` }],
  ['a sequence', { markets: true, lastSequence: 4 }],
])('%s with markets is refused', async (_what, message) => {
  const one = await listener();
  expect(await one.ask('subscribe', message)).toMatchObject({
    ok: false,
    error: { code: 'INVALID_REQUEST' },
  });
});
