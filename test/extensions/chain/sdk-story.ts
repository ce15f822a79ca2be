import { Wallet } from 'ethers';
import type { ChainExchange, ChainTrader } from '../../support/chain-exchange';
import { patiently } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import { type OpenMarket, openMarket } from '../../support/trader';
import { until } from '../../support/waiting';
import { addChange, type Changes, keyOf, type Limit, type Planned, plan, type Sign } from './predicted';
import { parse, signWithSdk } from './sdk';
import { COLLATERAL, collateralAbi, ctfAbi, exchangeAbi } from './world';

const FEE_RATES = [0, 37, 200];
const SHARES = '100';
const POLL_MS = 200;

type Kind = (taker: Limit['trader'], maker: Limit['trader']) => readonly [taker: Limit, maker: Limit];
const limit = (trader: Limit['trader'], side: 0 | 1, outcome: 0 | 1, pips: number, lots: number): Limit => ({
  trader,
  side,
  outcome,
  pips,
  lots,
});
/** The maker's price is better than the taker's limit, and a part of its order stays. */
const KINDS: Readonly<Record<string, Kind>> = {
  'the taker buys': (taker, maker) => [limit(taker, 0, 0, 6_200, 1_301), limit(maker, 1, 0, 5_700, 1_303)],
  'the taker sells': (taker, maker) => [limit(taker, 1, 1, 2_000, 1_301), limit(maker, 0, 1, 2_700, 1_303)],
  MINT: (taker, maker) => [limit(taker, 0, 1, 4_100, 1_301), limit(maker, 0, 0, 6_300, 1_303)],
  MERGE: (taker, maker) => [limit(taker, 1, 0, 3_000, 1_301), limit(maker, 1, 1, 6_300, 1_303)],
};

type Pair = readonly [taker: ChainTrader, maker: ChainTrader];

/** Orders of every match type, with several fees, are signed by the published SDK and sent over HTTP. */
export async function expectExact(exchange: ChainExchange, pair: Pair): Promise<void> {
  const { contracts } = (await exchange.client.get('/config')).body;
  const call = async (
    to: string,
    abi: typeof ctfAbi,
    method: string,
    ...args: unknown[]
  ): Promise<unknown> => {
    const data = abi.encodeFunctionData(method, args);
    return abi.decodeFunctionResult(
      method,
      String(await exchange.ask('eth_call', { to, data }, 'latest')),
    )[0];
  };
  const fees = String(await call(contracts.exchange, exchangeAbi, 'feeReceiver'));
  const markets = await openMarkets(exchange);
  await Promise.all(pair.map((one) => split(one, markets)));

  async function balances(): Promise<Changes> {
    const found: Changes = new Map();
    for (const address of [...pair.map((one) => one.address), fees, contracts.exchange]) {
      const cash = await call(contracts.collateral, collateralAbi, 'balanceOf', address);
      found.set(keyOf(address, COLLATERAL), cash as bigint);
      for (const { tokenId } of markets.flatMap(({ outcomes }) => outcomes)) {
        const held = await call(contracts.conditionalTokens, ctfAbi, 'balanceOf', address, tokenId);
        found.set(keyOf(address, BigInt(tokenId)), held as bigint);
      }
    }
    return found;
  }

  /** Places both orders of a match, and returns what it must change, with the taker's order. */
  async function match(market: OpenMarket, kind: Kind, feeRateBps: number) {
    const [taker, maker] = pair.map(({ address, wallet }) => ({ address, key: wallet.signingKey }));
    if (!taker || !maker) throw new Error('two wallets make a match');
    const [wanted, resting] = kind(taker, maker);
    const signed: object[] = [];
    const sign: Sign = async (trader, terms) => {
      const { order } = await signWithSdk(new Wallet(trader.key), contracts.exchange, terms);
      signed.push(order);
      return parse(order);
    };
    const [yes = 0n, no = 0n] = market.outcomes.map(({ tokenId }) => BigInt(tokenId));
    const planned: Planned = { taker: wanted, fills: [{ maker: resting, lots: wanted.lots }], feeRateBps };
    const chain = { fees: { address: fees, key: taker.key }, sign: () => parse({}) };
    const ids = { conditionId: market.conditionId, tokens: [yes, no] as const };
    const { changes } = await plan(chain, ids, planned, 0n, sign);
    const answers = [];
    for (const order of signed.reverse())
      answers.push(
        await patiently(() => exchange.client.post(`/markets/${market.id}/orders`, { body: { order } })),
      );
    expect(answers.map(({ body }) => body)).toMatchObject([{ status: 'OPEN' }, { status: 'FILLED' }]);
    return { changes, orderHash: String(answers[1]?.body.orderHash) };
  }

  for (const [name, kind] of Object.entries(KINDS)) {
    const before = await balances();
    const made: Awaited<ReturnType<typeof match>>[] = [];
    for (const [n, market] of markets.entries()) made.push(await match(market, kind, FEE_RATES[n] ?? 0));
    await until('the matches are confirmed', () => areConfirmed(pair[0], made), { pollMs: POLL_MS });
    const after = await balances();
    const changes: Changes = new Map();
    for (const one of made) {
      for (const [key, amount] of one.changes) {
        const [address = '', asset = '0'] = key.split('/');
        addChange(changes, address, BigInt(asset), amount);
      }
    }
    for (const [key, had] of before)
      expect([name, key, (after.get(key) ?? 0n) - had]).toEqual([name, key, changes.get(key) ?? 0n]);
    // The rest of the makers' orders must not meet the next ones.
    await pair[1].post('/me/orders/cancel-all', {});
  }
}

async function areConfirmed(taker: ChainTrader, made: readonly { orderHash: string }[]): Promise<boolean> {
  const orders = await Promise.all(made.map(({ orderHash }) => taker.get(`/orders/${orderHash}`)));
  return orders.every(({ body }) =>
    body.fills.every(
      ({ settlementStatus }: { settlementStatus: string }) => settlementStatus === 'CONFIRMED',
    ),
  );
}

async function openMarkets(exchange: ChainExchange): Promise<OpenMarket[]> {
  const made = FEE_RATES.map((feeRateBps) => openMarket(exchange.client, ADMIN_TOKEN, { feeRateBps }));
  const markets = await Promise.all(made);
  const isOpen = async ({ id }: OpenMarket) =>
    (await exchange.client.get(`/markets/${id}`)).body.status === 'OPEN';
  for (const one of markets) await until('a market is open', () => isOpen(one), { pollMs: POLL_MS });
  return markets;
}

/** Full sets of each market. */
async function split(one: ChainTrader, markets: readonly OpenMarket[]): Promise<void> {
  for (const { id } of markets)
    await one.send((await one.post(`/markets/${id}/split`, { size: SHARES })).body.calls);
  await until(
    'the tokens are final',
    async () => {
      const { body } = await one.get('/me/balances');
      // The answer may be that the chain was late.
      const tokens: { marketId: string; total: string }[] = body.tokens ?? [];
      return markets.every(
        ({ id }) => tokens.filter(({ marketId, total }) => marketId === id && total === SHARES).length === 2,
      );
    },
    { pollMs: POLL_MS },
  );
}
