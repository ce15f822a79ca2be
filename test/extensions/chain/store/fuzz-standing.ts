import type { Party } from '../../../model/chain';
import type { ChainBooks } from '../../../support/chain-books';
import type { Sums } from './fuzz-model';

/** The standing of each wallet: how much of it may wait for the chain, and how long it is suspended. */
export class FuzzStanding {
  private readonly suspended = new Map<string, number>();
  private readonly strikes = new Map<string, number>();
  private readonly settled = new Map<string, number>();

  constructor(
    private readonly books: ChainBooks,
    /** What a new wallet has; 0 for none. */
    private readonly firstMicro: number,
  ) {}

  isSuspended(wallet: string): boolean {
    return this.books.now() < (this.suspended.get(wallet) ?? 0);
  }

  /** Failures during a suspension belong to the deed that led to it. */
  strike(wallet: string): void {
    if (this.isSuspended(wallet)) return;
    const strikes = (this.strikes.get(wallet) ?? 0) + 1;
    this.strikes.set(wallet, strikes);
    const waitMs = [60_000, 3_600_000][strikes - 1] ?? 86_400_000;
    this.suspended.set(wallet, this.books.now() + waitMs);
  }

  settle(parties: readonly Party[]): void {
    for (const { wallet, value } of parties)
      this.settled.set(wallet, (this.settled.get(wallet) ?? 0) + value);
  }

  /** The value of its matches that are not final. */
  unsettled(wallet: string): number {
    const parties = [...this.books.waiting.values()].flatMap(({ match }) => match.parties);
    return parties.reduce((sum, party) => sum + (party.wallet === wallet ? party.value : 0), 0);
  }

  /** Whether an order that trades for at most `most` passes a limit, beside what was unsettled and reserved before. */
  passesLimit(wallet: string, most: number, unsettled: number, { reserved }: Sums): boolean {
    if (this.firstMicro === 0) return false;
    let limit = this.firstMicro;
    const { hasCode } = this.books.chain.wallet(wallet);
    while (!hasCode && (this.settled.get(wallet) ?? 0) >= 10 * limit) limit *= 10;
    const resting = [...reserved].reduce(
      (sum, [name, micro]) => sum + (name.startsWith(wallet) ? micro : 0),
      0,
    );
    return unsettled + most > limit || unsettled + resting + most > 10 * limit;
  }
}
