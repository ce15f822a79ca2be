import { FILLS_SHOWN_MAX } from '../../src/exchange/match';
import { type Answer, type Client, patiently } from '../support/client';
import { ADMIN_TOKEN } from '../support/settings';
import type { openMarket } from '../support/trader';
import type { Journal, Submission } from './load';
import type { Person } from './people';

/** The answers of the quiet exchange, over HTTP only; sizes in lots, prices in pips, money in micro-units. */
export interface Evidence {
  readonly orders: ReadonlyMap<string, OrderFacts | null>;
  readonly markets: readonly MarketFacts[];
  readonly wallets: readonly WalletFacts[];
  readonly grantMicro: number;
  readonly submissions: readonly Submission[];
}

export interface OrderFacts {
  readonly orderHash: string;
  readonly maker: string;
  readonly outcome: 0 | 1;
  readonly side: 'BUY' | 'SELL';
  readonly pips: number;
  readonly size: number;
  readonly filled: number;
  readonly remaining: number;
  readonly cancelled: number;
  readonly status: string;
  readonly sequence: number;
  readonly expiration: number;
  readonly createdMs: number;
  readonly fills: readonly { readonly tradeId: string; readonly pips: number; readonly lots: number }[];
}

export interface TradeFacts {
  readonly id: string;
  readonly sequence: number;
  readonly takerHash: string;
  readonly makerHash: string;
  readonly lots: number;
}

export interface SettledFacts {
  readonly status: string;
  readonly tradeIds: readonly string[];
}

export interface MarketFacts {
  readonly id: string;
  readonly sequence: number;
  /** The numbers used before the load began. */
  readonly sequenceAtStart: number;
  readonly openMicro: number;
  /** Price in Yes pips -> open lots and orders. */
  readonly bids: ReadonlyMap<number, readonly [lots: number, orders: number]>;
  readonly asks: ReadonlyMap<number, readonly [lots: number, orders: number]>;
  readonly trades: readonly TradeFacts[];
  readonly settled: readonly SettledFacts[];
}

export interface WalletFacts {
  readonly address: string;
  readonly cash: Held;
  readonly tokens: readonly (Held & { readonly marketId: string; readonly outcome: 0 | 1 })[];
}
export interface Held {
  readonly total: number;
  readonly reserved: number;
}

export type StartedMarket = Awaited<ReturnType<typeof openMarket>> & { readonly sequenceAtStart: number };

const AT_ONCE = 16;
export const micro = (text: string): number => Math.round(Number(text) * 1e6);
const lots = (text: string): number => Math.round(Number(text) * 100);
const pips = (text: string): number => Math.round(Number(text) * 10_000);

interface Wire {
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into, not typed
  readonly [member: string]: any;
}

export async function gather(
  client: Client,
  journal: Journal,
  markets: readonly StartedMarket[],
  people: readonly Person[],
  grant: string,
): Promise<Evidence> {
  const orders = new Map<string, OrderFacts | null>();
  await inParallel(journal.submissions, async ({ signed }) => {
    const { status, body } = await patiently(() => client.get(`/orders/${signed.orderHash}`));
    if (status !== 200 && status !== 404) throw new Error(`${signed.orderHash}: ${status}`);
    // An order shows its latest fills; only for more fills the list of all is requested.
    const fills = body.fillCount > FILLS_SHOWN_MAX ? await fillsOf(client, signed.orderHash) : body.fills;
    orders.set(signed.orderHash, status === 200 ? orderFacts({ ...body, fills }) : null);
  });
  const wallets: WalletFacts[] = [];
  for (const person of people) {
    await person.signIn(client);
    const { body } = await expected(() => client.get('/me/balances', { token: person.token }));
    const tokens = body.tokens.map((held: Wire) => ({
      ...heldOf(held),
      marketId: held.marketId,
      outcome: held.outcomeIndex,
    }));
    wallets.push({ address: person.address, cash: heldOf(body.collateral), tokens });
  }
  const all = await Promise.all(markets.map((market) => marketFacts(client, market)));
  return { orders, wallets, markets: all, grantMicro: micro(grant), submissions: journal.submissions };
}

const heldOf = ({ total, reserved }: Wire): Held => ({ total: micro(total), reserved: micro(reserved) });

function orderFacts(body: Wire): OrderFacts {
  return {
    orderHash: body.orderHash,
    maker: body.maker,
    outcome: body.outcomeIndex,
    side: body.side,
    pips: pips(body.price),
    size: lots(body.size),
    filled: lots(body.filledSize),
    remaining: lots(body.remainingSize),
    cancelled: lots(body.cancelledSize),
    status: body.status,
    sequence: body.sequence,
    expiration: Number(body.expiration),
    createdMs: Date.parse(body.createdAt),
    fills: body.fills.map((fill: Wire) => ({
      tradeId: fill.tradeId,
      pips: pips(fill.price),
      lots: lots(fill.size),
    })),
  };
}

async function marketFacts(client: Client, { id, sequenceAtStart }: StartedMarket): Promise<MarketFacts> {
  const [{ body: book }, { body: market }] = await Promise.all([
    expected(() => client.get(`/markets/${id}/orderbook`)),
    expected(() => client.get(`/markets/${id}`)),
  ]);
  const side = (levels: readonly Wire[]) =>
    new Map(levels.map(({ price, size, orders }) => [pips(price), [lots(size), Number(orders)] as const]));
  const trades = await pages(client, `/markets/${id}/trades?limit=500`);
  const settled = await pages(client, `/admin/settlements?marketId=${id}&limit=200`, ADMIN_TOKEN);
  return {
    id,
    sequence: book.sequence,
    sequenceAtStart,
    openMicro: micro(market.openInterest),
    bids: side(book.bids),
    asks: side(book.asks),
    trades: trades.map((trade) => ({
      id: trade.id,
      sequence: trade.sequence,
      takerHash: trade.takerOrderHash,
      makerHash: trade.makerOrderHash,
      lots: lots(trade.size),
    })),
    settled: settled.map(({ status, tradeIds }) => ({ status, tradeIds })),
  };
}

/** All of them, oldest first. */
const fillsOf = async (client: Client, hash: string): Promise<Wire[]> =>
  (await pages(client, `/orders/${hash}/fills?limit=500`)).reverse();

export async function pages(client: Client, path: string, token?: string): Promise<Wire[]> {
  const rows: Wire[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = cursor === '' ? path : `${path}&cursor=${cursor}`;
    const { body }: Answer = await expected(() => client.get(page, token === undefined ? {} : { token }));
    rows.push(...body.data);
    cursor = body.nextCursor;
  }
  return rows;
}

async function expected(ask: () => Promise<Answer>): Promise<Answer> {
  const answer = await patiently(ask);
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer;
}

async function inParallel<T>(list: readonly T[], act: (one: T) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let i = next++; i < list.length; i = next++) await act(list[i] as T);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
