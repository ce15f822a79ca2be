import { createTrader, domainOf, type Trader } from '../../support/trader';
import { sleep } from '../../support/waiting';
import { openStreet, type Street, Visitor } from '../guard/from-address';

/** An honest market maker: 16 connections of one address, 150 submissions and 300 cancels in a second. */
const CONNECTIONS = 16;
const SECONDS = 3;
const SUBMISSIONS = 150;
const CANCELS = 300;
/** Requests that may be sent at once after a pause. */
const LATE_MAX = 40;
const TICK_MS = 20;
const WALLETS = 4;
const QUOTE = { side: 'BUY', outcome: 0, pips: 100, lots: 100 } as const;

let street: Street;
beforeAll(async () => {
  street = await openStreet();
});
afterAll(() => street?.stop());

test('a market maker with one address reaches no limit', async () => {
  const visitor = new Visitor(street);
  const domain = await domainOf(street.exchange.client);
  const wallets = Array.from({ length: WALLETS }, () => createTrader(visitor.client(), domain));
  const tokens = new Map<Trader, string>();
  for (const wallet of wallets) tokens.set(wallet, await wallet.token());
  const quotes: Awaited<ReturnType<Trader['order']>>[] = [];
  while (quotes.length < SUBMISSIONS * SECONDS) {
    quotes.push(await (wallets[quotes.length % WALLETS] as Trader).order(street.market, QUOTE));
    // The replicas run in this process, and must not be blocked while it signs.
    await sleep(0);
  }
  const statuses: number[] = [];
  let [quoted, cancelled] = [0, 0];
  const booked: [Trader, string][] = [];

  async function quote(): Promise<void> {
    const order = quotes[quoted];
    const wallet = wallets[quoted++ % WALLETS] as Trader;
    const { status, body } = await visitor.send('POST', `/markets/${street.market.id}/orders`, {
      body: { order },
    });
    statuses.push(status);
    booked.push([wallet, body.orderHash]);
  }

  /** Each order twice: a quoting bot does not wait for the answer to its first cancel. */
  async function cancel(): Promise<void> {
    const [wallet, hash] = booked[cancelled++ >> 1] ?? [];
    if (!wallet) return;
    const path = `/orders/${hash}/cancel`;
    statuses.push((await visitor.send('POST', path, { token: tokens.get(wallet) })).status);
  }

  let startedAt = performance.now();
  /** After a pause of the machine the rate goes on as before: a bot does not send late requests all at once. */
  const due = (perSecond: number, sent: number): number => {
    const all = ((performance.now() - startedAt) / 1_000) * perSecond;
    const late = all - sent - LATE_MAX;
    if (late <= 0) return all;
    startedAt += (late / perSecond) * 1_000;
    return sent + LATE_MAX;
  };
  async function connection(): Promise<void> {
    while (quoted < quotes.length || cancelled < CANCELS * SECONDS) {
      if (quoted < Math.min(due(SUBMISSIONS, quoted), quotes.length)) await quote();
      else if (cancelled < Math.min(due(CANCELS, cancelled), booked.length * 2)) await cancel();
      else await sleep(TICK_MS);
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, () => connection()));
  expect(statuses).toHaveLength((SUBMISSIONS + CANCELS) * SECONDS);
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
});
