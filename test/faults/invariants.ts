import type { Evidence, MarketFacts, OrderFacts, WalletFacts } from './evidence';

/** The invariants that must hold after every fault, each by the name under which it is reported. */
export const INVARIANTS = {
  'acknowledged orders are there': acknowledged,
  'refused orders left nothing': refused,
  'orders given up for lost are nowhere': givenUp,
  'no order is over-filled': sizes,
  'both limits are respected': limits,
  'fills and trades agree': fillsAndTrades,
  'better and older orders first': priority,
  'cancelled and expired orders never fill': finality,
  'money and tokens are conserved': conservation,
  'reservations are those of the open orders': reservations,
  'levels are the sums of the open orders': levels,
  'every number is given once': sequences,
  'every fill is settled once': settlements,
} as const satisfies Record<string, (evidence: Evidence) => string[]>;

export interface Violation {
  readonly invariant: keyof typeof INVARIANTS;
  readonly what: string;
}

export function violationsOf(evidence: Evidence): Violation[] {
  return (Object.keys(INVARIANTS) as (keyof typeof INVARIANTS)[]).flatMap((invariant) =>
    INVARIANTS[invariant](evidence).map((what) => ({ invariant, what })),
  );
}

const OPEN = new Set(['OPEN', 'PARTIALLY_FILLED']);
const LOT_MICRO = 10_000;
const ONE_PIPS = 10_000;
const isOpen = ({ status }: OrderFacts): boolean => OPEN.has(status);
const stored = ({ orders }: Evidence): OrderFacts[] => [...orders.values()].flatMap((order) => order ?? []);
const yesPrice = ({ outcome, pips }: OrderFacts): number => (outcome === 0 ? pips : ONE_PIPS - pips);
const isBid = ({ side, outcome }: OrderFacts): boolean => (side === 'BUY') === (outcome === 0);

function marketOfOrders(evidence: Evidence): Map<string, string> {
  return new Map(evidence.submissions.map(({ signed, marketId }) => [signed.orderHash, marketId]));
}

function ordersOf(evidence: Evidence, { id }: MarketFacts): OrderFacts[] {
  const markets = marketOfOrders(evidence);
  return stored(evidence).filter(({ orderHash }) => markets.get(orderHash) === id);
}

function acknowledged({ submissions, orders }: Evidence): string[] {
  return submissions.flatMap(({ signed: { orderHash }, accepted }) => {
    const order = orders.get(orderHash);
    return accepted.flatMap((answer) => {
      if (!order) return [`${orderHash} was accepted and is gone`];
      const isKept =
        order.sequence === answer.sequence || answer.status === 'CANCELLED' || answer.status === 'EXPIRED';
      const known = new Set(order.fills.map(({ tradeId }) => tradeId));
      const missing = answer.fills.filter(({ tradeId }) => !known.has(tradeId));
      return [
        ...(isKept ? [] : [`${orderHash} was number ${answer.sequence} and is ${order.sequence}`]),
        ...(order.filled < Math.round(Number(answer.filledSize) * 100) ? [`${orderHash} lost fills`] : []),
        ...missing.map(({ tradeId }) => `${orderHash} lost the trade ${tradeId}`),
      ];
    });
  });
}

function refused({ submissions, orders }: Evidence): string[] {
  return submissions.flatMap(({ signed: { orderHash }, refused: code, accepted }) =>
    code !== null && (accepted.length > 0 || orders.get(orderHash))
      ? [`${orderHash}: ${code}, and stored`]
      : [],
  );
}

function givenUp({ submissions, orders }: Evidence): string[] {
  return submissions.flatMap(({ signed: { orderHash }, isGivenUp }) =>
    isGivenUp && orders.get(orderHash) ? [`${orderHash} was nowhere when that was final, and is stored`] : [],
  );
}

/** Compares with the signed order, because the size that the exchange shows could follow from its fills. */
function sizes({ submissions, orders }: Evidence): string[] {
  return submissions.flatMap(({ signed }) => {
    const order = orders.get(signed.orderHash);
    if (!order) return [];
    const { orderHash, size, filled, remaining, cancelled, fills } = order;
    const sum = fills.reduce((total, { lots }) => total + lots, 0);
    const isWhole = filled + remaining + cancelled === size && Math.min(filled, remaining, cancelled) >= 0;
    return isWhole && sum === filled && size === signed.lots
      ? []
      : [
          `${orderHash}: ${filled}+${remaining}+${cancelled} of ${size}, signed ${signed.lots}, ${sum} in its fills`,
        ];
  });
}

function limits(evidence: Evidence): string[] {
  return stored(evidence).flatMap(({ orderHash, side, pips, fills }) =>
    fills
      .filter((fill) => (side === 'BUY' ? fill.pips > pips : fill.pips < pips))
      .map((fill) => `${orderHash} ${side} ${pips} filled at ${fill.pips}`),
  );
}

function fillsAndTrades(evidence: Evidence): string[] {
  const wrong: string[] = [];
  for (const market of evidence.markets) {
    const trades = new Map(market.trades.map((trade) => [trade.id, trade]));
    if (trades.size !== market.trades.length) wrong.push(`${market.id} lists a trade twice`);
    const seen = new Map<string, number>();
    for (const { orderHash, fills } of ordersOf(evidence, market)) {
      for (const { tradeId, lots } of fills) {
        const trade = trades.get(tradeId);
        const isParty = trade?.takerHash === orderHash || trade?.makerHash === orderHash;
        if (!trade || !isParty || trade.lots !== lots) wrong.push(`${orderHash} and ${tradeId} disagree`);
        seen.set(tradeId, (seen.get(tradeId) ?? 0) + 1);
      }
    }
    for (const { id } of market.trades)
      if (seen.get(id) !== 2) wrong.push(`${id} has ${seen.get(id) ?? 0} sides`);
  }
  return wrong;
}

/** Finds a maker that was met although an order before it still rests or was filled later. */
function priority(evidence: Evidence): string[] {
  return evidence.markets.flatMap((market) => {
    const orders = ordersOf(evidence, market);
    const byHash = new Map(orders.map((order) => [order.orderHash, order]));
    const places = new Map(market.trades.map((trade) => [trade.id, trade.sequence]));
    const lastFill = (order: OrderFacts): number =>
      order.fills.reduce((last, { tradeId }) => Math.max(last, places.get(tradeId) ?? 0), 0);
    const alive = orders.map((order) => ({
      order,
      bid: isBid(order),
      price: yesPrice(order),
      until: isOpen(order) ? Number.POSITIVE_INFINITY : lastFill(order),
    }));
    return market.trades.flatMap((trade) => {
      const maker = byHash.get(trade.makerHash);
      if (!maker) return [`${trade.id} met an unknown order`];
      const bid = isBid(maker);
      const price = yesPrice(maker);
      const passed = alive.find(
        (other) =>
          other.bid === bid &&
          other.order.sequence < trade.sequence &&
          other.until > trade.sequence &&
          !isOver(other.order, byHash.get(trade.takerHash)) &&
          isBefore(other, { bid, price, order: maker }),
      );
      return passed ? [`${trade.id} met ${maker.orderHash} before ${passed.order.orderHash}`] : [];
    });
  });
}

/**
 * Whether the order had expired when the taker was booked. `matchedAt` cannot be used: it never falls, so after the clock of
 * Redis was ahead for a moment it stays constant until the clock has caught up.
 */
const isOver = ({ expiration }: OrderFacts, taker: OrderFacts | undefined): boolean =>
  expiration !== 0 && taker !== undefined && taker.createdMs >= expiration * 1_000;

interface Place {
  readonly bid: boolean;
  readonly price: number;
  readonly order: OrderFacts;
}
const isBefore = (a: Place, b: Place): boolean =>
  a.price === b.price ? a.order.sequence < b.order.sequence : a.bid ? a.price > b.price : a.price < b.price;

function finality(evidence: Evidence): string[] {
  const cancels = new Map(
    evidence.submissions.map(({ signed, cancelSequence }) => [signed.orderHash, cancelSequence]),
  );
  return evidence.markets.flatMap(({ id, trades }) => {
    const orders = new Map(
      ordersOf(evidence, { id } as MarketFacts).map((order) => [order.orderHash, order]),
    );
    return trades.flatMap((trade) =>
      [trade.makerHash, trade.takerHash].flatMap((hash) => {
        const order = orders.get(hash);
        const cancelled = cancels.get(hash) ?? null;
        if (cancelled !== null && trade.sequence > cancelled) return [`${hash} filled after its cancel`];
        return order && isOver(order, orders.get(trade.takerHash)) ? [`${hash} filled after it expired`] : [];
      }),
    );
  });
}

function conservation({ wallets, markets, grantMicro }: Evidence): string[] {
  const wrong: string[] = [];
  const cash = wallets.reduce((sum, wallet) => sum + wallet.cash.total, 0);
  const backing = markets.reduce((sum, { openMicro }) => sum + openMicro, 0);
  if (cash + backing !== wallets.length * grantMicro)
    wrong.push(`${cash} + ${backing} of ${wallets.length} grants`);
  for (const { id, openMicro } of markets) {
    const held = ([0, 1] as const).map((outcome) => heldOf(wallets, id, outcome));
    if (held.some((sum) => sum !== openMicro))
      wrong.push(`${id}: ${openMicro} sets, tokens ${held.join(' and ')}`);
  }
  return wrong;
}

const heldOf = (wallets: readonly WalletFacts[], marketId: string, outcome: 0 | 1): number =>
  wallets
    .flatMap(({ tokens }) => tokens.filter((held) => held.marketId === marketId && held.outcome === outcome))
    .reduce((sum, { total }) => sum + total, 0);

function reservations(evidence: Evidence): string[] {
  const markets = marketOfOrders(evidence);
  return evidence.wallets.flatMap(({ address, cash, tokens }) => {
    const mine = stored(evidence).filter((order) => order.maker === address && isOpen(order));
    const sum = (list: readonly OrderFacts[], of: (order: OrderFacts) => number): number =>
      list.reduce((total, order) => total + of(order), 0);
    const due = sum(
      mine.filter(({ side }) => side === 'BUY'),
      ({ remaining, pips }) => remaining * pips,
    );
    const wrong = due === cash.reserved ? [] : [`${address}: ${cash.reserved} reserved, ${due} due`];
    const sells = mine.filter(({ side }) => side === 'SELL');
    const places = new Set([
      ...tokens.map(({ marketId, outcome }) => `${marketId} ${outcome}`),
      ...sells.map(({ orderHash, outcome }) => `${markets.get(orderHash)} ${outcome}`),
    ]);
    for (const place of places) {
      const held = tokens.find(({ marketId, outcome }) => `${marketId} ${outcome}` === place)?.reserved ?? 0;
      const here = sells.filter(({ orderHash, outcome }) => `${markets.get(orderHash)} ${outcome}` === place);
      const owed = sum(here, ({ remaining }) => remaining * LOT_MICRO);
      if (owed !== held) wrong.push(`${address}: ${held} tokens of ${place} reserved, ${owed} due`);
    }
    return wrong;
  });
}

function levels(evidence: Evidence): string[] {
  return evidence.markets.flatMap((market) => {
    const due = { bids: new Map<number, [number, number]>(), asks: new Map<number, [number, number]>() };
    for (const order of ordersOf(evidence, market).filter(isOpen)) {
      const side = due[isBid(order) ? 'bids' : 'asks'];
      const [lots, count] = side.get(yesPrice(order)) ?? [0, 0];
      side.set(yesPrice(order), [lots + order.remaining, count + 1]);
    }
    return (['bids', 'asks'] as const).flatMap((side) => {
      const text = (map: ReadonlyMap<number, readonly [number, number]>): string =>
        JSON.stringify([...map].sort(([a], [b]) => a - b));
      const [told, sums] = [text(market[side]), text(due[side])];
      return told === sums ? [] : [`${market.id} ${side}: ${told}, orders ${sums}`];
    });
  });
}

/** Expiries and cancels without an answer use numbers, too, at most one each. */
function sequences(evidence: Evidence): string[] {
  return evidence.markets.flatMap((market) => {
    const orders = ordersOf(evidence, market);
    const mine = evidence.submissions.filter(({ marketId }) => marketId === market.id);
    const placed = orders.map(({ sequence }) => sequence);
    const cancels = new Set(mine.flatMap(({ cancelSequence }) => cancelSequence ?? []));
    const given = [...placed, ...cancels];
    const unanswered =
      orders.filter(({ status }) => status === 'EXPIRED').length +
      mine.filter(({ cancelUnknown, cancelSequence }) => cancelUnknown && cancelSequence === null).length;
    const missing = market.sequence - new Set(given).size - market.sequenceAtStart;
    return [
      ...(new Set(given).size === given.length ? [] : [`${market.id}: a number was given twice`]),
      ...(given.some((number) => number > market.sequence) ? [`${market.id}: a number beyond its own`] : []),
      ...(missing < 0 || missing > unanswered
        ? [`${market.id}: ${missing} of ${unanswered} numbers missing`]
        : []),
    ];
  });
}

function settlements({ markets }: Evidence): string[] {
  return markets.flatMap(({ id, trades, settled }) => {
    const times = new Map<string, number>();
    for (const trade of settled.flatMap(({ tradeIds }) => tradeIds))
      times.set(trade, (times.get(trade) ?? 0) + 1);
    const due = new Set(trades.map((trade) => trade.id));
    return [
      ...trades.flatMap((trade) =>
        times.get(trade.id) === 1 ? [] : [`${trade.id}: ${times.get(trade.id) ?? 0} times`],
      ),
      ...[...times.keys()].flatMap((trade) => (due.has(trade) ? [] : [`${trade} settled, never made`])),
      ...(settled.every(({ status }) => status === 'CONFIRMED') ? [] : [`${id} has unconfirmed settlements`]),
    ];
  });
}
