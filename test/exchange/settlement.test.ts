import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type MATCH_TYPES, matchTypeOf } from '../../src/exchange/match';
import { chainScale } from '../../src/exchange/order';
import {
  type Match,
  partOf,
  partsOf,
  SETTLEMENT_MAKERS_MAX,
  settlementsOf,
} from '../../src/exchange/settlement';
import { lots, pips } from '../../src/exchange/units';
import { luaSources } from '../../src/lua-bundle/bundle';

interface Submit {
  readonly id: string;
  readonly side: 'BUY' | 'SELL';
  readonly orderType: string;
  readonly makerAmount: string;
  readonly takerAmount: string;
}
interface Step {
  readonly submit: Submit;
  readonly expect: {
    readonly fills?: readonly {
      maker: string;
      matchType: (typeof MATCH_TYPES)[number];
      size: string;
      priceForTaker: string;
    }[];
    readonly settlement?: { takerFillAmount: string; makerFillAmounts: string[]; refundToTaker: string };
  };
}

const cases = JSON.parse(readFileSync(path.join(__dirname, '../cases/matching.json'), 'utf8')) as {
  name: string;
  steps: Step[];
}[];
const scale = chainScale(18);
const E18 = 10n ** 18n;

/** The figures of the case file are exact to the hundredth or the ten-thousandth. */
const toPips = (text: string) => pips(Math.round(Number(text) * 10_000));
const toLots = (text: string) => lots(Math.round(Number(text) * 100));

function limitOf({ side, makerAmount, takerAmount }: Submit) {
  const [cash, tokens] = side === 'BUY' ? [makerAmount, takerAmount] : [takerAmount, makerAmount];
  return pips(Number((BigInt(cash) * 10_000n) / BigInt(tokens)));
}

const matched = cases.flatMap(({ name, steps }) =>
  steps.filter((step) => step.expect.settlement).map((step) => [name, steps, step] as const),
);

test.each(matched)('%s', (_, steps, { submit, expect: wanted }) => {
  const orderOf = (of: Submit) => ({
    orderHash: of.id,
    side: of.side === 'BUY' ? (0 as const) : (1 as const),
    pricePips: limitOf(of),
  });
  const match: Match = {
    taker: orderOf(submit),
    isBudget: submit.orderType === 'MARKET' && submit.side === 'BUY',
    feeRateBps: 0,
    fills: (wanted.fills ?? []).map(({ maker, matchType, size, priceForTaker }) => {
      const found = steps.find((step) => step.submit.id === maker);
      if (!found) throw new Error(`no maker ${maker}`);
      return {
        maker: orderOf(found.submit),
        matchType,
        sizeLots: toLots(size),
        pricePips: toPips(priceForTaker),
      };
    }),
  };
  const [record, ...more] = settlementsOf(match, scale);
  expect(more).toEqual([]);
  expect(record?.takerFillAmount.toString()).toBe(wanted.settlement?.takerFillAmount);
  expect(record?.makerFillAmounts.map(String)).toEqual(wanted.settlement?.makerFillAmounts);
  expect(record?.refundAmount.toString()).toBe(wanted.settlement?.refundToTaker);
  expect(record?.matchTypes).toEqual(wanted.fills?.map(({ matchType }) => matchType));
});

test('a match with very many makers is split, and the parts add up', () => {
  const maker = (i: number) => ({ orderHash: `m${i}`, side: 1 as const, pricePips: pips(4000 + i) });
  const fills = Array.from({ length: 2 * SETTLEMENT_MAKERS_MAX.paper + 1 }, (_, i) => ({
    maker: maker(i),
    pricePips: pips(4000 + i),
    sizeLots: lots(100),
    matchType: matchTypeOf(0, 1),
  }));
  const taker = { orderHash: 't', side: 0 as const, pricePips: pips(5000) };
  const records = settlementsOf({ taker, isBudget: false, fills, feeRateBps: 0 }, scale);
  expect(records.map(({ part, makerHashes }) => [part, makerHashes.length])).toEqual([
    [0, SETTLEMENT_MAKERS_MAX.paper],
    [1, SETTLEMENT_MAKERS_MAX.paper],
    [2, 1],
  ]);
  expect(records.flatMap(({ makerHashes }) => makerHashes)).toEqual(
    fills.map((fill) => fill.maker.orderHash),
  );
  const total = records.reduce((sum, { takerFillAmount }) => sum + takerFillAmount, 0n);
  expect(total).toBe((BigInt(fills.length) * E18) / 2n);
  expect([0, 49, 50, 100].map((index) => partOf(index))).toEqual([0, 0, 1, 2]);
  expect([0, 1, 50, 51].map((count) => partsOf(count))).toEqual([0, 1, 1, 2]);
});

test('on a chain each fill is a record of its own, so that a wallet at fault fails no fill of others', () => {
  const fills = [4000, 4500, 5000].map((price, i) => ({
    maker: { orderHash: `m${i}`, side: 1 as const, pricePips: pips(price) },
    pricePips: pips(price),
    sizeLots: lots(100),
    matchType: matchTypeOf(0, 1),
  }));
  const taker = { orderHash: 't', side: 0 as const, pricePips: pips(5000) };
  const records = settlementsOf({ taker, isBudget: false, fills, feeRateBps: 100 }, scale, 'chain');
  expect(records.map(({ part, makerHashes }) => [part, makerHashes])).toEqual([
    [0, ['m0']],
    [1, ['m1']],
    [2, ['m2']],
  ]);
  // Each gives the limit for its own fill, and the contract returns what the maker asks less.
  expect(records.map(({ takerFillAmount }) => takerFillAmount)).toEqual([E18 / 2n, E18 / 2n, E18 / 2n]);
  expect(records.map(({ refundAmount }) => refundAmount)).toEqual([E18 / 10n, E18 / 20n, 0n]);
  expect([0, 1, 255].map((index) => partOf(index, 'chain'))).toEqual([0, 1, 255]);
});

test.each(['paper', 'chain'] as const)(
  'with funds on %s the scripts compute the fee of the taker by the same number of makers',
  (funds) => {
    const sources = luaSources(path.join(__dirname, '../..'), funds);
    const found = [...sources.values()].flatMap((source) => [
      ...source.matchAll(/^ledger\.SETTLEMENT_MAKERS_MAX = (\d+)$/gm),
    ]);
    expect(found.map((match) => Number(match[1]))).toEqual([SETTLEMENT_MAKERS_MAX[funds]]);
  },
);
