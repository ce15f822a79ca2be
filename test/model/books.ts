import { MICRO_PER_LOT, type ModelFill, type ModelOrder } from './matching';

/**
 * The positions and gains of wallets, computed naively: every event in its order, by average cost. Written from
 * docs/use/interface.md and docs/inside/outbox.md, not from src. Money in micro-units.
 */
export interface Book extends Record<'size' | 'cost' | 'realized' | 'paid' | 'received', bigint> {}

export type Books = ReturnType<typeof createBooks>;

export function createBooks() {
  const books = new Map<string, Book>();

  function book(who: string, market: string, outcome: number): Book {
    const key = `${who} ${market} ${outcome}`;
    const found = books.get(key) ?? { size: 0n, cost: 0n, realized: 0n, paid: 0n, received: 0n };
    books.set(key, found);
    return found;
  }

  function get(b: Book, tokens: bigint, price: bigint): void {
    b.paid += price;
    // A fee of 100 % leaves no tokens for the money.
    if (tokens === 0n) b.realized -= price;
    else b.cost += price;
    b.size += tokens;
  }

  function give(b: Book, tokens: bigint, proceeds: bigint): void {
    const share = (b.cost * tokens) / b.size;
    b.realized += proceeds - share;
    b.cost -= share;
    b.size -= tokens;
    b.received += proceeds;
  }

  function side({ request }: ModelOrder, lots: bigint, price: bigint, fee: bigint): void {
    const b = book(request.maker, request.marketId, request.order.outcome);
    if (request.order.side === 0) get(b, lots * MICRO_PER_LOT - fee, lots * price);
    else give(b, lots * MICRO_PER_LOT, lots * price - fee);
  }

  function trade(taker: ModelOrder, fills: readonly ModelFill[]): void {
    for (const { maker, lots, price, takerFee, makerFee } of fills) {
      const sides = [
        () => side(taker, lots, price, takerFee),
        () => side(maker, lots, BigInt(maker.request.order.pricePips), makerFee),
      ];
      // A wallet that trades with itself sells before it buys.
      if (taker.request.order.side === 0) sides.reverse();
      for (const act of sides) act();
    }
  }

  /** `worth` is the price of Yes in tenths of a pip. */
  function convert(who: string, market: string, sets: bigint, worth: bigint): void {
    const [yes, no] = [book(who, market, 0), book(who, market, 1)];
    const amount = sets < 0n ? -sets : sets;
    const part = (amount * worth) / 100_000n;
    const rest = amount - part;
    if (sets > 0n) {
      get(yes, sets, part);
      get(no, sets, rest);
    } else {
      give(yes, -sets, part);
      give(no, -sets, rest);
    }
  }

  /** Tokens of a market that has ended (`outcome` null: void) for `worth` in all: of a void one, half of each outcome. */
  function redeem(
    who: string,
    market: string,
    outcome: 0 | 1 | null,
    tokens: readonly bigint[],
    worth: bigint,
  ): void {
    const [yes = 0n, no = 0n] = tokens;
    const forYes = outcome === null ? yes / 2n : outcome === 0 ? worth : 0n;
    if (yes > 0n) give(book(who, market, 0), yes, forYes);
    if (no > 0n) give(book(who, market, 1), no, worth - forYes);
  }

  return { books, book, trade, convert, redeem };
}
