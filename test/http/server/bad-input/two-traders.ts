import { Wallet } from 'ethers';
import type { Answer, Client } from '../../../support/client';
import { ADMIN_TOKEN } from '../../../support/settings';
import {
  createTrader,
  type Domain,
  domainOf,
  type Limit,
  type Market,
  openMarket,
  type Trader,
} from '../../../support/trader';
import { type Replica, startWebReplicas, type WebReplicas } from '../../../support/web-replicas';

/** One case of test/cases/bad-input.json. */
export interface Case {
  readonly id: string;
  readonly area: string;
  readonly method: 'GET' | 'POST' | 'WS';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly mutation: Readonly<Record<string, unknown>> & { readonly op: string };
  readonly expect: { readonly status: readonly number[]; readonly code?: readonly string[] };
  readonly transport?: boolean;
  readonly skip?: string;
  readonly why: string;
}

/** Alice (A) and Bob (B) with funds and orders in two markets of an exchange with two replicas. */
export interface TwoTraders {
  readonly exchange: WebReplicas;
  readonly domain: Domain;
  readonly market: Market;
  readonly otherMarket: Market;
  readonly alice: Trader;
  readonly bob: Trader;
  /** The replicas in turn. */
  next(): Replica;
  state(): Promise<State>;
  fill(text: string): Promise<string>;
  stop(): Promise<void>;
}

/** What a refusal must not change. */
export interface State {
  /** Books, balances, sequences and orders. */
  readonly all: string;
  /** Books and balances, which a case that is a story restores. */
  readonly restored: string;
}

export const RESTING: Limit = { side: 'BUY', outcome: 0, pips: 1_000, lots: 1_000 };

export async function startTwoTraders(env: Record<string, string> = {}): Promise<TwoTraders> {
  const exchange = await startWebReplicas({ replicas: 2, env: { PAPER_GRANT: '1000000', ...env } });
  const { client, replicas } = exchange;
  const domain = await domainOf(client);
  const market = await openMarket(client, ADMIN_TOKEN);
  const otherMarket = await openMarket(client, ADMIN_TOKEN);
  const alice = createTrader(client, domain, new Wallet(`0x${'a1'.repeat(32)}`));
  const bob = createTrader(client, domain, new Wallet(`0x${'b0'.repeat(32)}`));
  const resting: Record<string, Answer> = {};
  for (const [name, trader] of [
    ['A', alice],
    ['B', bob],
  ] as const) {
    await trader.post(`/markets/${market.id}/split`, { size: '1000' });
    resting[name] = await trader.submit(market, RESTING);
    await trader.submit(otherMarket, RESTING);
  }
  let turn = 0;
  const addresses = { A: alice.address, B: bob.address };

  /** Placeholders as named in the case file. */
  async function fill(text: string): Promise<string> {
    const values: Record<string, string> = {
      marketId: market.id,
      otherMarketId: otherMarket.id,
      'orderHash:A': resting.A?.body.orderHash,
      'orderHash:B': resting.B?.body.orderHash,
      'address:A': addresses.A,
      'address:B': addresses.B,
      'address:A:without0x': addresses.A.slice(2),
      'address:A:badChecksum': badChecksum(addresses.A),
      'tokenId:otherMarket': otherMarket.outcomes[0]?.tokenId ?? '',
      'accessToken:A': await alice.token(),
      'now+1h': new Date(Date.now() + 3_600_000).toISOString(),
      'now-1s': new Date(Date.now() - 1_000).toISOString(),
      nowMs: String(Date.now()),
      domain: 'exchange.test',
      baseUrl: 'https://exchange.test',
      otherNetworkChainId: '56',
      orderHash: resting.A?.body.orderHash,
    };
    return text.replace(/\{([^{}]+)\}/g, (whole, name: string) => values[name] ?? whole);
  }

  return {
    exchange,
    domain,
    market,
    otherMarket,
    alice,
    bob,
    next: () => replicas[turn++ % replicas.length] as Replica,
    state: () => stateOf(client, [market, otherMarket], [alice, bob]),
    fill,
    stop: exchange.stop,
  };
}

async function stateOf(
  client: Client,
  markets: readonly Market[],
  traders: readonly Trader[],
): Promise<State> {
  const books = await Promise.all(markets.map(({ id }) => client.get(`/markets/${id}/orderbook`)));
  const balances = await Promise.all(traders.map((trader) => trader.get('/me/balances')));
  const orders = await Promise.all(traders.map((trader) => trader.get('/me/orders?limit=200')));
  const restored = lines([
    ...books.flatMap(({ body }) => [body.bids, body.asks]),
    ...balances.map(({ body }) => body),
  ]);
  const moved = lines([
    ...books.map(({ body }) => body.sequence),
    ...orders.map(({ body }) =>
      body.data.map((order: Record<string, unknown>) => [order.orderHash, order.status, order.filledSize]),
    ),
  ]);
  return { restored, all: `${restored}\n${moved}` };
}

const lines = (parts: readonly unknown[]): string => parts.map((part) => JSON.stringify(part)).join('\n');

/** Changes one letter's case. */
function badChecksum(address: string): string {
  const at = address.slice(2).search(/[a-fA-F]/) + 2;
  const letter = address.charAt(at);
  const turned = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
  return address.slice(0, at) + turned + address.slice(at + 1);
}
