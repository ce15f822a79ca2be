import { startWeb } from '../../src/app/web';
import { loadConfig } from '../../src/config/load';
import { createLogger } from '../../src/log';
import { createClient } from '../support/client';
import { listen } from '../support/listener';
import { startTestCluster } from '../support/redis';
import { ADMIN_TOKEN, ENVIRONMENT } from '../support/settings';
import { createTrader, domainOf, openMarket } from '../support/trader';
import { sleep, until } from '../support/waiting';
import { bookOf, createBookClient } from './book-client';

/** A tenth of the time between two heartbeats. */
const QUIET_MS = 500;

test('on a cluster, replicas are joined by sharded publish and subscribe', async () => {
  const cluster = await startTestCluster();
  const config = loadConfig({
    NODE_ENV: 'test',
    PORT: '0',
    REDIS_URL: cluster.url,
    PUBLIC_BASE_URL: 'https://exchange.test',
    JWT_SECRET: ENVIRONMENT.JWT_SECRET,
    ADMIN_TOKEN,
    RATE_LIMIT: 'off',
  });
  const logged: string[] = [];
  const log = createLogger(config, 'web', { write: (line: string) => logged.push(line) });
  const webs = [await startWeb(config, log), await startWeb(config, log)];
  const clients = webs.map(({ port }) => createClient(`http://127.0.0.1:${port}`));
  const [here] = clients as [ReturnType<typeof createClient>];
  try {
    const market = await openMarket(here, ADMIN_TOKEN);
    const alice = createTrader(here, await domainOf(here));
    const books = clients.map(() => createBookClient(market.conditionId));
    for (const [i, book] of books.entries()) await book.connect(clients[i]?.url ?? '');
    const token = await alice.token();
    const told = await Promise.all(clients.map(({ url }) => listen(url, { token })));
    for (let i = 0; i < 10; i++) {
      const { status } = await alice.submit(market, {
        side: 'BUY',
        outcome: 0,
        pips: 4_000 + i * 100,
        lots: 100,
      });
      expect(status).toBe(200);
    }
    let last = 11;
    const areTold = () => until('both are told', () => books.every((book) => book.sequence() === last));
    await areTold();
    const heartbeats = (): number => books.reduce((sum, book) => sum + book.heartbeats.length, 0);
    // An update that no heartbeat follows came by the adapter: the log is read only at heartbeats.
    await until('updates come by the adapter', async () => {
      const before = heartbeats();
      await alice.submit(market, { side: 'BUY', outcome: 0, pips: 1_000 + 100 * last++, lots: 100 });
      await areTold();
      await sleep(QUIET_MS);
      return heartbeats() === before;
    });
    const shown = bookOf((await here.get(`/markets/${market.id}/orderbook`)).body);
    expect(books.map((book) => book.book())).toEqual([shown, shown]);
    expect(books.flatMap(({ faults }) => faults)).toEqual([]);
    expect(logged.filter((line) => line.includes('snapshot sent again'))).toEqual([]);
    for (const one of told) await until('its orders', () => one.all('order:update').length >= 10);
    await alice.post('/auth/logout');
    await until('the sockets end', () => told.every((one) => one.ended() !== null));
    for (const one of [...books, ...told]) one.close();
  } finally {
    await Promise.all(webs.map((web) => web.stop(1_000)));
    await cluster.stop();
  }
});
