import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Answer, patiently } from '../../support/client';
import { laneClient, type OrderLane, openLane } from '../../support/order-lane';
import { sampleOf } from '../../support/sample';
import { ADMIN_TOKEN } from '../../support/settings';
import {
  createTrader,
  type Domain,
  domainOf,
  type Market,
  openMarket,
  type Trader,
} from '../../support/trader';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

interface Step {
  readonly submit: {
    readonly id: string;
    readonly maker: string;
    readonly side: 'BUY' | 'SELL';
    readonly outcome: 'YES' | 'NO';
    readonly orderType: string;
    readonly makerAmount: string;
    readonly takerAmount: string;
    readonly selfTradePrevention?: string;
  };
  readonly expect: {
    readonly status: string;
    readonly code?: string;
    readonly fills?: readonly { maker: string; matchType: string; size: string; priceForTaker: string }[];
    readonly filledSize?: string;
    readonly cancelled?: readonly string[];
    readonly settlement?: { readonly takerCollateralDelta: string };
  };
}

interface Scenario {
  readonly name: string;
  readonly tickSize: string;
  readonly lotSize: string;
  readonly steps: readonly Step[];
  readonly bookYes: {
    readonly bids: readonly [string, string][];
    readonly asks: readonly [string, string][];
  };
}

const scenarios = JSON.parse(
  readFileSync(path.join(__dirname, '../../cases/matching.json'), 'utf8'),
) as Scenario[];
const SETS = '10000';

let exchange: WebReplicas;
let domain: Domain;

beforeAll(async () => {
  exchange = await startWebReplicas();
  domain = await domainOf(exchange.client);
});
afterAll(() => exchange.stop());

const WAYS = ['HTTP', 'a socket'] as const;
type Way = (typeof WAYS)[number];
const lanes: OrderLane[] = [];
afterEach(() => {
  for (const lane of lanes.splice(0)) lane.close();
});

const rows = scenarios.flatMap((scenario, at) => {
  const both = WAYS.map((way) => [scenario.name, way, scenario] as const);
  return at % 2 === 0 ? both : both.reverse();
});
/** A run of `npm test` plays each scenario one way: the first over HTTP, the second over a socket, and so on. */
const played = sampleOf('scenarios over HTTP and a socket', rows, scenarios.length);
test.each(played)('%s over %s', async (_, way, scenario) => {
  const { client } = exchange;
  const { tickSize, lotSize } = scenario;
  const market = await openMarket(client, ADMIN_TOKEN, { tickSize, lotSize });
  const traders = await fund(market, scenario, way);
  const hashes = new Map<string, string>();
  for (const step of scenario.steps) await play(step, market, traders, hashes);
  const { body } = await client.get(`/markets/${market.id}/orderbook`);
  expect(levels(body.bids)).toEqual(plainLevels(scenario.bookYes.bids));
  expect(levels(body.asks)).toEqual(plainLevels(scenario.bookYes.asks));
});

/** Wallets that are new to every scenario, with collateral and both tokens. */
async function fund(market: Market, { steps }: Scenario, way: Way): Promise<Map<string, Trader>> {
  const traders = new Map<string, Trader>();
  for (const { submit } of steps) {
    if (traders.has(submit.maker)) continue;
    const trader = createTrader(exchange.client, domain);
    expect((await trader.post('/me/faucet')).status).toBe(200);
    expect((await trader.post(`/markets/${market.id}/split`, { size: SETS })).status).toBe(200);
    traders.set(submit.maker, way === 'HTTP' ? trader : await overSocket(trader));
  }
  return traders;
}

async function overSocket(trader: Trader): Promise<Trader> {
  const { client } = exchange;
  const lane = await openLane(client.url, await trader.token());
  lanes.push(lane);
  return createTrader(laneClient(client, lane), domain, trader.wallet);
}

async function play(
  { submit, expect: wanted }: Step,
  market: Market,
  traders: Map<string, Trader>,
  hashes: Map<string, string>,
): Promise<void> {
  const trader = traders.get(submit.maker) as Trader;
  const { side, makerAmount, takerAmount, orderType, selfTradePrevention } = submit;
  const limit = { side, outcome: submit.outcome === 'YES' ? 0 : 1, pips: 1, lots: 1 } as const;
  const order = await trader.order(market, limit, { makerAmount, takerAmount });
  const before = await cash(trader);
  const body = { order, orderType, ...(selfTradePrevention ? { selfTradePrevention } : {}) };
  const answer = await patiently(() => trader.send('POST', `/markets/${market.id}/orders`, body));
  if (wanted.status === 'REJECTED') {
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.body.code).toBe(wanted.code);
    expect(await cash(trader)).toBe(before);
    return;
  }
  expect(answer.status).toBe(200);
  hashes.set(submit.id, answer.body.orderHash);
  checkFills(answer, wanted, hashes);
  for (const id of wanted.cancelled ?? []) {
    const { body } = await exchange.client.get(`/orders/${hashes.get(id)}`);
    expect(body).toMatchObject({ status: 'CANCELLED', reason: 'SELF_TRADE' });
  }
  if (wanted.settlement) {
    expect((await cash(trader)) - before).toBeCloseTo(Number(wanted.settlement.takerCollateralDelta), 6);
  }
}

function checkFills({ body }: Answer, wanted: Step['expect'], hashes: Map<string, string>): void {
  expect(body.status).toBe(wanted.status);
  expect(body.filledSize).toBe(wanted.filledSize);
  expect(body.fills).toEqual(
    (wanted.fills ?? []).map(({ maker, matchType, size, priceForTaker }) => ({
      tradeId: expect.any(String),
      matchType,
      size,
      price: plain(priceForTaker),
      makerOrderHash: hashes.get(maker),
      fee: expect.any(String),
      feeAsset: expect.any(String),
      matchedAt: expect.any(String),
    })),
  );
}

/** All of a wallet's collateral, free and reserved. */
const cash = async (trader: Trader): Promise<number> =>
  Number((await trader.get('/me/balances')).body.collateral.total);

/** The case file writes prices with two decimals. */
const plain = (price: string): string => String(Number(price));
const plainLevels = (list: readonly [string, string][]) => list.map(([price, size]) => [plain(price), size]);
const levels = (list: { price: string; size: string }[]) => list.map(({ price, size }) => [price, size]);
