import type { Account } from './accounts';
import type { Emitted, ModelMarket } from './exchange';

/** The result of a market, and the payouts so far. Written from docs/use/interface.md, not from the Lua. */
export interface Ending {
  /** Null when the market is void. */
  readonly outcome: 0 | 1 | null;
  /** Outstanding when it ended. */
  readonly sets: bigint;
  paid: bigint;
  accounts: number;
  done: boolean;
  /** Account -> its Yes and No tokens, and its payout. */
  readonly records: Map<string, readonly [bigint, bigint, bigint]>;
}

interface Books {
  account(asset: string, who: string): Account;
  readonly emitted: Emitted[];
  readonly feeAccount: string;
}

/**
 * Pays the named accounts, which are any holders of tokens: 1 for a winning token, one half in a void market. Micro-units
 * cannot be halved: the rest after the last payout belongs to the exchange.
 */
export function pay(m: ModelMarket, ending: Ending, who: readonly string[], last: boolean, books: Books) {
  const { account, emitted, feeAccount } = books;
  const news: { who: string; move: string }[] = [];
  let anything = false;
  const give = (to: string, amount: bigint): void => {
    account('cash', to).free += amount;
    m.openInterest -= amount;
    ending.paid += amount;
  };
  for (const one of who) {
    const [yes, no] = ([0, 1] as const).map((outcome) => {
      const tokens = account(`${m.id}${outcome}`, one);
      const held = tokens.free + tokens.reserved;
      Object.assign(tokens, { free: 0n, reserved: 0n });
      return held;
    }) as [bigint, bigint];
    const { outcome } = ending;
    const worth = outcome === null ? (yes + no) / 2n : [yes, no][outcome];
    give(one, worth ?? 0n);
    ending.accounts++;
    if (yes + no === 0n) continue;
    anything = true;
    ending.records.set(one, [yes, no, worth ?? 0n]);
    if (one !== feeAccount) news.push({ who: one, move: `REDEEM ${worth} ${yes} ${no}` });
  }
  const told = { market: m.id, orders: [] };
  if (anything) {
    const [wallets, moves] = [news.map((entry) => entry.who), news.map((entry) => entry.move)];
    emitted.push({ kind: 'BALANCE', sequence: m.sequence, ...told, wallets, moves });
  }
  if (!last) return;
  give(feeAccount, m.openInterest);
  ending.done = true;
  m.sequence++;
  emitted.push({ kind: 'MARKET', sequence: m.sequence, ...told, wallets: [] });
}
