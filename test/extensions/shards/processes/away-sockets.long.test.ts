import { addressBytes } from '../../../../src/store/records/order';
import { sessionKey } from '../../../../src/store/redis/keys';
import { homeOf } from '../../../../src/store/redis/tags';
import { type Client, createClient } from '../../../support/client';
import { type Listener, listen } from '../../../support/listener';
import { portOf, startScript } from '../../../support/processes';
import { openLink, startTestCluster, type TestCluster } from '../../../support/redis';
import { ADMIN_TOKEN, ENVIRONMENT } from '../../../support/settings';
import { createTrader, domainOf, type Market, openMarket, type Trader } from '../../../support/trader';
import { until } from '../../../support/waiting';

/** One of three masters is silent, with shard 2 of 4: private sockets go on. */
const LIMIT_MS = 120_000;
/** In the first node. */
const LAST_SLOT = 5_460;
let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster(3);
}, LIMIT_MS);
afterAll(() => cluster.stop());

/** With a session that the first node does not have. */
async function signInElsewhere(trader: Trader): Promise<void> {
  const link = await openLink(cluster.nodes[0]?.port ?? 0);
  await until('its session is on another node', async () => {
    const claims = (await trader.signIn()).body.accessToken.split('.')[1];
    const { sid } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    return Number(await link.ask(`CLUSTER KEYSLOT ${sessionKey(sid)}`)) > LAST_SLOT;
  });
  link.close();
}

async function openExchange() {
  const env = { ...ENVIRONMENT, REDIS_URL: cluster.url, PORT: '0', NODE_ENV: 'test', SHARDS: '4' };
  const web = startScript("require('./src/web.ts')", env as Record<string, string>);
  const url = `http://127.0.0.1:${await portOf(web)}`;
  const client = createClient(url);
  const markets: Market[] = [];
  for (let shard = 0; shard < 4; shard++) markets.push(await openMarket(client, ADMIN_TOKEN, { shard }));
  const stop = async () => {
    web.child.kill('SIGTERM');
    await web.exited;
  };
  return { url, client, domain: await domainOf(client), markets, stop };
}

const buy = { side: 'BUY', outcome: 0, pips: 5_000, lots: 100 } as const;
const signal = (name: NodeJS.Signals) => process.kill(cluster.nodes[0]?.pid ?? 0, name);
const untilShardIs = (client: Client, state: 'up' | 'down') =>
  until(`the shard is seen to be ${state}`, async () => {
    const { status, body } = await client.get('/readyz');
    return status === 200 && body.shards[2] === state;
  });

const PRIVATE = ['order:update', 'trade:update', 'balance:update'];

/** Every message continues the one before it. */
function expectUnbroken({ told }: Listener): void {
  const numbered = told.flatMap(([event, body]) => (PRIVATE.includes(event) ? [body] : []));
  for (const [i, { accountSequence, previousAccountSequence }] of numbered.entries()) {
    if (i > 0) expect(previousAccountSequence).toBe(numbered[i - 1].accountSequence);
    expect(accountSequence).toBeGreaterThan(previousAccountSequence);
  }
}

test(
  'a wallet with orders in a silent shard receives those in others, and its balance when all shards answer',
  async () => {
    const { url, client, domain, markets, stop } = await openExchange();
    const traders = Array.from({ length: 100 }, () => createTrader(client, domain));
    const trader = traders.find(({ address }) => homeOf(addressBytes(address.toLowerCase()), 4) === 1);
    if (!trader) throw new Error('no wallet has its home in shard 1');
    await signInElsewhere(trader);
    const token = await trader.token();
    const open: Listener[] = [];
    const connect = async (auth: object = {}): Promise<Listener> => {
      const one = await listen(url, { token, ...auth });
      open.push(one);
      return one;
    };
    const isTold = (one: Listener, hash: string) =>
      one.all('order:update').some(({ orderHash }) => orderHash === hash);
    const place = async (shard: number): Promise<string> => {
      const { status, body } = await trader.submit(markets[shard] as Market, buy);
      expect(status).toBe(200);
      return body.orderHash;
    };
    const socket = await connect();
    const first = await place(0);
    const inSilent = await place(2);
    await until('both orders', () => [first, inSilent].every((hash) => isTold(socket, hash)));
    await until('their balance', () => socket.all('balance:update').at(-1)?.collateral.reserved === '1');
    let last = '';
    signal('SIGSTOP');
    try {
      await untilShardIs(client, 'down');
      // Until here a message about the transfer may have come; after this the balance needs the silent shard.
      const before = socket.all('balance:update').length;
      const local = socket.told.filter(([event]) => PRIVATE.includes(event)).at(-1)?.[1].accountSequence;
      const { epoch } = socket.all('exchange:update').at(-1) ?? {};
      const second = await place(1);
      await until('its order', () => isTold(socket, second));
      const orders = await connect({ accountEvents: false });
      const submit = async (shard: number) => {
        const { id: marketId = '' } = markets[shard] ?? {};
        const order = await trader.order(markets[shard] as Market, buy);
        return orders.ask('order:submit', { marketId, order });
      };
      const sent = await submit(3);
      expect(sent).toMatchObject({ status: 200 });
      expect(await submit(2)).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
      await until('the order of the other socket', () => isTold(socket, sent.body.orderHash));
      const resumed = await connect({ lastAccountSequence: local, epoch });
      expect(await resumed.heard('account:resumed')).toEqual({ accountSequence: local, resumed: true });
      await until('what it missed', () => isTold(resumed, sent.body.orderHash));
      last = await place(0);
      await until('the last order', () => [socket, resumed].every((one) => isTold(one, last)));
      expect(socket.all('balance:update')).toHaveLength(before);
      expect(resumed.all('balance:update')).toEqual([]);
    } finally {
      signal('SIGCONT');
    }
    await untilShardIs(client, 'up');
    const { body } = await trader.get('/me/balances');
    for (const one of [socket, ...open.slice(2)]) {
      await until('the balance of all shards', () => {
        const { collateral } = one.all('balance:update').at(-1) ?? {};
        return collateral?.available === body.collateral.available;
      });
      expectUnbroken(one);
    }
    for (const one of open) one.close();
    await stop();
  },
  LIMIT_MS,
);
