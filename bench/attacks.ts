import { createHash, randomBytes } from 'node:crypto';
import { bytes, type Plan } from './attack-plan';
import { transportPlans } from './attacks-transport';
import { createSigner, type Signer, type Submission } from './signer';
import { type Size, sizes } from './size';
import { call, type Side } from './web-process';

const CHAIN_FILLS = sizes(20, 4_000);
const DUST_MAKERS = sizes(20, 510);
const FRESH_WALLETS = sizes(20, 3_000);
const TRADES_LIMIT = 500;
const COMMENTS = 50;
const COMMENT_CHARACTERS = 2_000;
const BATCH_ORDERS = 20;
const CROSSING_CENTS = 60;
const DUST_LOTS = 100n;
const OWN_ORDERS = sizes(20, 3_000);
const CANCELLING_WALLETS = 20;
const CANCELLED_HASHES = 100;
const TICKER_IDS = 50;

/** The market is prepared through `quiet`, a web process without limits on the same Redis. */
export async function plansOf(quiet: Side, size: Size): Promise<{ plans: Plan[]; marketId: string }> {
  const signer = await createSigner(quiet);
  const { market, sign } = signer;
  const base = `/markets/${market.id}`;
  const submitPath = `${base}/orders`;
  const chain = await chainOfFills(quiet, signer, CHAIN_FILLS[size]);
  await dustMakers(quiet, signer, DUST_MAKERS[size]);
  await longComments(quiet, signer, base);
  await ordersOf(quiet, signer, OWN_ORDERS[size]);
  const tokens = await signer.signIn();
  const bearerOf = (wallet: number): string => `Authorization: Bearer ${tokens[wallet]}\r\n`;
  const own = (path: string): Buffer => bytes('GET', path, undefined, bearerOf(0));
  const foreign = Array.from({ length: CANCELLED_HASHES }, () => sign().orderHash);
  const takers = Array.from({ length: 40 }, () => sign({ outcome: 0, cents: 90, lots: 100_000n }));
  const fresh = await createSigner(quiet, FRESH_WALLETS[size]);
  const strangers = Array.from({ length: FRESH_WALLETS[size] }, () => fresh.sign());
  const junk = Object.fromEntries(Array.from({ length: 1_330 }, (_, i) => [i.toString(36), 0]));
  const members = Array.from({ length: 3_700 }, (_, i) => `a${i}=1`).join('&');
  const address = (): string => `0x${randomBytes(20).toString('hex')}`;
  const nested = JSON.parse(`${'['.repeat(1_000)}${']'.repeat(1_000)}`);
  const post = (path: string, body: unknown): Buffer => bytes('POST', path, JSON.stringify(body));
  const http = (what: string, ...requests: Buffer[]): Plan => ({ what, attack: { requests } });
  const socket = (what: string, event: string, message: unknown, everyMs: number): Plan => ({
    what,
    attack: { socket: { event, message, everyMs } },
  });
  const conditionId = (market as unknown as { conditionId: string }).conditionId;
  return {
    marketId: market.id,
    plans: [
      http(
        'batch of unknown members',
        post(`${submitPath}/batch`, { orders: Array(BATCH_ORDERS).fill(junk) }),
      ),
      http('submission of unknown members', post(submitPath, junk)),
      http('batch of 100,000 items', post(`${submitPath}/batch`, { orders: Array(100_000).fill(1) })),
      http('an order with 4,000 fills, read', bytes('GET', `/orders/${chain.orderHash}`)),
      http('the same, sent with a bad signature', post(submitPath, spoilt(chain))),
      http('bad signatures', ...takers.map((order) => post(submitPath, spoilt(order)))),
      http('orders of fresh wallets', ...strangers.map(({ path, body }) => bytes('POST', path, body))),
      http(
        'FOKs that 500 makers cannot fill',
        ...takers.map(({ path, body }) => post(path, { ...JSON.parse(body), orderType: 'FOK' })),
      ),
      http('dry runs', ...takers.map(({ path, body }) => bytes('POST', `${path}?dryRun=true`, body))),
      http('sign-in nonces', ...Array.from({ length: 500 }, () => bytes('GET', `/auth/nonce/${address()}`))),
      http(`trades?limit=${TRADES_LIMIT}`, bytes('GET', `${base}/trades?limit=${TRADES_LIMIT}`)),
      http('comments?limit=200', bytes('GET', `${base}/comments?limit=200`)),
      http('forged cursors', bytes('GET', `/markets?cursor=${randomBytes(7_000).toString('base64url')}`)),
      http('3,700 query members', bytes('GET', `/markets?${members.slice(0, 15_000)}`)),
      http(
        'lists that nobody else asks for',
        ...Array.from({ length: 5_000 }, (_, i) => bytes('GET', `/markets?limit=100&q=${i}`)),
      ),
      http('own orders that no filter finds', own('/me/orders?clientOrderId=none&limit=1')),
      http('own portfolio', own('/me/portfolio')),
      http(
        'cancels of the orders of others, from 20 wallets',
        ...Array.from({ length: CANCELLING_WALLETS }, (_, wallet) =>
          bytes('POST', '/orders/cancel', JSON.stringify({ orderHashes: foreign }), bearerOf(wallet)),
        ),
      ),
      http(
        'pages of markets by slug',
        ...Array.from({ length: 500 }, (_, i) => bytes('GET', `/m/none-${i}`)),
      ),
      http(
        'tickers of many markets',
        bytes('GET', `/tickers?ids=${Array(TICKER_IDS).fill(market.id).join(',')}`),
      ),
      http('wrong admin tokens', bytes('PUT', '/admin/mode', '{"mode":"HALTED"}', bearer())),
      socket('nested lists through sockets', 'subscribe', nested, 1),
      socket('subscribing again and again', 'subscribe', { conditionIds: [conditionId] }, 1),
      socket('unknown events', 'anything', 'x'.repeat(10_000), 1),
      ...(await transportPlans(quiet, market.id)),
    ],
  };
}

const bearer = (): string => `Authorization: Bearer ${createHash('sha256').update('x').digest('hex')}\r\n`;

function spoilt({ body }: Submission): unknown {
  const sent = JSON.parse(body);
  return { ...sent, order: { ...sent.order, signature: `0x${'11'.repeat(32)}${'22'.repeat(32)}1b` } };
}

/** One order that thousands of others met. */
async function chainOfFills(quiet: Side, { sign }: Signer, fills: number): Promise<Submission> {
  const maker = sign({ outcome: 0, cents: CROSSING_CENTS, lots: BigInt(fills) * DUST_LOTS });
  await call(quiet, 'POST', maker.path, maker.body);
  for (let i = 0; i < fills; i++) {
    const { path, body } = sign({ outcome: 1, cents: 100 - CROSSING_CENTS, lots: DUST_LOTS });
    await call(quiet, 'POST', path, body);
  }
  return maker;
}

/** More makers than one submission may meet. */
async function dustMakers(quiet: Side, { sign }: Signer, makers: number): Promise<void> {
  for (let i = 0; i < makers; i++) {
    const { path, body } = sign({ outcome: 1, cents: 10 + (i % 20), lots: DUST_LOTS });
    await call(quiet, 'POST', path, body);
  }
}

/** A long list of one wallet, in which a filter finds nothing. */
async function ordersOf(quiet: Side, { sign }: Signer, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { path, body } = sign({ wallet: 0 });
    await call(quiet, 'POST', path, body);
  }
}

async function longComments(quiet: Side, signer: Signer, base: string): Promise<void> {
  const [token] = await signer.signIn();
  const body = JSON.stringify({ body: '😀'.repeat(COMMENT_CHARACTERS) });
  for (let i = 0; i < COMMENTS; i++) await call(quiet, 'POST', `${base}/comments`, body, token);
}
