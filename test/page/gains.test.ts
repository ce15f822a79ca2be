import type { Activity, Position as WirePosition } from 'ctf-exchange-client';
import { formatMicro } from '../../src/exchange/units';
import {
  type Change,
  changed,
  NO_POSITION,
  type Position,
  payoutChanges,
  setChanges,
} from '../../src/extensions/portfolio/position';
import { gainsByMarket, gainsOf } from '../../src/page/portfolio/gains';
import { WORTH_PER_ONE, worthText } from '../../src/wire/prices';
import { createRandom } from '../support/random';
import { freshSeed } from '../support/telling';

const MARKETS = ['aaaaaaaa', 'bbbbbbbb', 'cccccccc'];
const LINES = 2_000;

interface Line {
  readonly type: Activity['type'];
  readonly marketId: string | null;
  /** The changes of Yes and No. */
  readonly changes: readonly [Change, Change];
  /** In tenths of a pip. */
  readonly worth?: number | undefined;
}

const NOTHING: Change = { tokensMicro: 0n, collateralMicro: 0n };

const wire = ({ type, marketId, changes: [yes, no], worth }: Line, at: number): Activity => ({
  id: `${at}-0`,
  type,
  occurredAt: new Date(at).toISOString(),
  marketId,
  conditionId: null,
  side: null,
  outcomeIndex: null,
  role: null,
  price: null,
  size: null,
  fee: null,
  feeAsset: null,
  tradeId: null,
  orderHash: null,
  yesPrice: worth === undefined ? null : worthText(worth),
  changes: {
    collateral: formatMicro(yes.collateralMicro + no.collateralMicro),
    yes: formatMicro(yes.tokensMicro),
    no: formatMicro(no.tokensMicro),
  },
});

test('the gain of each line is the one that the exchange counts, for thousands of random lines', () => {
  const random = createRandom(freshSeed());
  const upTo = (most: bigint): bigint => BigInt(random.int(1, Number(most)));
  const books = new Map<string, [Position, Position]>();
  const lines: Activity[] = [];
  const expected: (bigint | null)[] = [];
  const sales = { count: 0 };

  function draw(marketId: string, [yes, no]: readonly [Position, Position]): Line | null {
    const kind = random.below(6);
    const outcome = random.below(2);
    const onOne = (change: Change): Line['changes'] =>
      outcome === 0 ? [change, NOTHING] : [NOTHING, change];
    const held = outcome === 0 ? yes.sizeMicro : no.sizeMicro;
    const sets = yes.sizeMicro < no.sizeMicro ? yes.sizeMicro : no.sizeMicro;
    if (kind <= 1)
      return {
        type: 'TRADE',
        marketId,
        changes: onOne({ tokensMicro: upTo(90_000_000n), collateralMicro: -upTo(50_000_000n) }),
      };
    if (kind === 2 && held > 0n) {
      const given = random.chance(0.2) ? held : upTo(held);
      return {
        type: 'TRADE',
        marketId,
        changes: onOne({ tokensMicro: -given, collateralMicro: upTo(60_000_000n) }),
      };
    }
    const worth = random.chance(0.3) ? undefined : random.int(10, WORTH_PER_ONE - 10);
    if (kind === 3) return { type: 'SPLIT', marketId, changes: setChanges(upTo(40_000_000n), worth), worth };
    if (kind === 4 && sets > 0n)
      return { type: 'MERGE', marketId, changes: setChanges(-upTo(sets), worth), worth };
    if (kind === 5 && random.chance(0.05)) {
      const tokens = [yes.sizeMicro, no.sizeMicro] as const;
      if (tokens[0] + tokens[1] === 0n) return null;
      return { type: 'REDEEM', marketId, changes: payoutChanges({ outcome: 0 }, tokens, tokens[0]) };
    }
    return null;
  }

  while (lines.length < LINES) {
    if (random.chance(0.02)) {
      lines.push(wire({ type: 'FAUCET', marketId: null, changes: [NOTHING, NOTHING] }, lines.length));
      expected.push(null);
      continue;
    }
    const marketId = random.pick(MARKETS);
    const before = books.get(marketId) ?? [NO_POSITION, NO_POSITION];
    const line = draw(marketId, before);
    if (!line) continue;
    const after: [Position, Position] = [
      changed(before[0], line.changes[0], 1),
      changed(before[1], line.changes[1], 1),
    ];
    books.set(marketId, after);
    const gives = line.changes.some(({ tokensMicro }) => tokensMicro < 0n);
    const realized = (both: readonly [Position, Position]) => both[0].realizedMicro + both[1].realizedMicro;
    lines.push(wire(line, lines.length));
    expected.push(gives ? realized(after) - realized(before) : null);
    if (gives) sales.count += 1;
  }
  expect(sales.count).toBeGreaterThan(LINES / 10);
  expect(gainsOf(lines)).toEqual(expected);
});

test('the gain of a market is that of both outcomes, and unknown while a held one has no price', () => {
  const position = (marketId: string, size: string, realizedPnl: string, unrealizedPnl: string | null) =>
    ({ marketId, size, realizedPnl, unrealizedPnl }) as WirePosition;
  const gains = gainsByMarket([
    position('aaaaaaaa', '4', '1.5', '0.25'),
    position('bbbbbbbb', '1', '-2', null),
    position('aaaaaaaa', '0', '-0.5', null),
  ]);
  expect(gains).toEqual([
    { marketId: 'aaaaaaaa', realized: 1_000_000, unrealized: 250_000 },
    { marketId: 'bbbbbbbb', realized: -2_000_000, unrealized: null },
  ]);
});
