import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '../../../src/exchange/errors';
import type { MarketTerms } from '../../../src/exchange/market';
import { chainScale, orderOf, type SignedOrder, ZERO_ADDRESS } from '../../../src/exchange/order';
import type { OrderType, SelfTradePrevention } from '../../../src/exchange/status';
import { formatLots, formatPips, parseLots, parsePips } from '../../../src/exchange/units';
import type { PlaceReply, PlaceRequest } from '../../../src/store/verbs/place';
import { alice, bob, carla, type EngineWorld } from '../../support/engine-world';
import { withWorlds } from './setup';

/** Plays test/cases/matching.json on the engine alone; test/http plays it over HTTP. */
interface Submit {
  readonly id: string;
  readonly maker: string;
  readonly side: 'BUY' | 'SELL';
  readonly outcome: 'YES' | 'NO';
  readonly orderType: OrderType;
  readonly makerAmount: string;
  readonly takerAmount: string;
  readonly selfTradePrevention?: SelfTradePrevention;
}
interface Step {
  readonly submit: Submit;
  readonly expect: {
    readonly status: string;
    readonly code?: string;
    readonly filledSize?: string;
    readonly cancelled?: readonly string[];
    readonly fills?: readonly { maker: string; matchType: string; size: string; priceForTaker: string }[];
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
  readFileSync(join(__dirname, '..', '..', 'cases', 'matching.json'), 'utf8'),
) as readonly Scenario[];
const makers: Readonly<Record<string, string>> = { alice, bob, carol: carla };
const { world } = withWorlds();

function termsOf({ tickSize, lotSize }: Scenario): MarketTerms {
  return {
    id: 'market00',
    slug: 's',
    conditionId: '0x',
    questionId: '0x',
    oracle: ZERO_ADDRESS,
    tokenIds: ['1', '2'],
    outcomeNames: ['Yes', 'No'],
    feeRateBps: 0,
    createdAtMs: 0,
    tickPips: parsePips(tickSize),
    lotLots: parseLots(lotSize),
    minOrderLots: parseLots(lotSize),
  };
}

function requestOf(terms: MarketTerms, submit: Submit, open: EngineWorld): PlaceRequest {
  const outcome = submit.outcome === 'YES' ? 0 : 1;
  const side = submit.side === 'BUY' ? 0 : 1;
  const maker = makers[submit.maker] ?? '';
  const signed: SignedOrder = {
    salt: 1n,
    maker,
    signer: maker,
    taker: ZERO_ADDRESS,
    tokenId: BigInt(outcome + 1),
    side,
    makerAmount: BigInt(submit.makerAmount),
    takerAmount: BigInt(submit.takerAmount),
    expiration: 0n,
    nonce: 0n,
    feeRateBps: 0n,
    signatureType: 0,
    signature: '0x',
  };
  const order = orderOf(signed, outcome, submit.orderType, terms, chainScale(18));
  return {
    ...open.order(side, maker, outcome, '1', '0.5'),
    order,
    orderType: submit.orderType,
    selfTradePrevention: submit.selfTradePrevention ?? 'NONE',
  };
}

/** The answer in the words of the case. */
async function answer(open: EngineWorld, step: Step, terms: MarketTerms, ids: Map<string, string>) {
  let reply: PlaceReply;
  try {
    const request = requestOf(terms, step.submit, open);
    ids.set(request.orderHash, step.submit.id);
    reply = await open.place(request);
  } catch (error) {
    if (error instanceof Refusal) return { status: 'REJECTED', code: error.code };
    throw error;
  }
  const fills = reply.fills.map((fill) => ({
    maker: ids.get(fill.makerHash),
    matchType: fill.matchType,
    size: formatLots(fill.sizeLots),
    priceForTaker: formatPips(fill.pricePips),
  }));
  return { status: reply.record.status, fills, filledSize: formatLots(reply.record.filledLots) };
}

const free = async (open: EngineWorld, who: string): Promise<number> =>
  Number((await open.state()).money.cash.get(who)?.reduce((a, b) => a + b, 0n));

test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))('%s', async (_, scenario) => {
  const open = world();
  await open.market({ lotSize: scenario.lotSize });
  for (const who of [alice, bob, carla]) await open.split(who, '1000');
  const terms = termsOf(scenario);
  const ids = new Map<string, string>();
  for (const step of scenario.steps) {
    const { settlement, cancelled, ...wanted } = step.expect;
    const before = await free(open, alice);
    const got = await answer(open, step, terms, ids);
    const fills = wanted.fills?.map((fill) => ({
      ...fill,
      priceForTaker: formatPips(parsePips(fill.priceForTaker)),
    }));
    if (wanted.status === 'REJECTED') expect(got).toEqual({ status: 'REJECTED', code: wanted.code });
    else expect(got).toEqual({ status: wanted.status, fills, filledSize: wanted.filledSize });
    if (settlement) {
      const delta = (await free(open, alice)) - before;
      expect(`${delta / 1e6}`).toBe(settlement.takerCollateralDelta);
    }
    for (const id of cancelled ?? []) {
      const hash = [...ids].find(([, name]) => name === id)?.[0] ?? '';
      expect((await open.state([], [hash])).records[0]).toMatchObject({
        status: 'CANCELLED',
        reason: 'SELF_TRADE',
      });
    }
  }
  const { bids, asks } = await open.book();
  const plain = (levels: readonly [string, string][]) =>
    levels.map(([p, s]) => `${formatPips(parsePips(p))} ${s}`);
  expect(bids.map((level) => level.split(' ').slice(0, 2).join(' '))).toEqual(plain(scenario.bookYes.bids));
  expect(asks.map((level) => level.split(' ').slice(0, 2).join(' '))).toEqual(plain(scenario.bookYes.asks));
});
