import type { MarketId } from '../../exchange/market';
import { formatMicro } from '../../exchange/units';
import type { TokenAccount } from '../records/account';
import type { Expected } from './check-orders';
import type { Findings } from './report';
import type { Snapshot } from './snapshot';
import type { EventLoopYield } from './yield-to-event-loop';

export const ASSETS = ['YES', 'NO'] as const;

/** A negative amount is read as a number that no account can have. */
const isPossible = (amount: number): boolean => amount <= Number.MAX_SAFE_INTEGER;
const text = (amount: number): string => (isPossible(amount) ? formatMicro(amount) : 'below zero');

/** Checks the reservations of each wallet, and that no balance is negative. Returns the number of balances. */
export async function checkAccounts(
  snapshot: Snapshot,
  expected: Expected,
  findings: Findings,
  yieldToEventLoop: EventLoopYield,
): Promise<number> {
  let balances = 0;
  const resting = tokensOf(expected);
  for (const wallet of snapshot.accounts()) {
    const account = snapshot.cash.get(wallet);
    if (account) {
      balances++;
      const at = { wallet, asset: 'COLLATERAL' } as const;
      checkRange(account, at, findings);
    }
    const [reserved, found] = [expected.cash.get(wallet) ?? 0, account?.reservedMicro ?? 0];
    if (reserved !== found) {
      findings.compare(formatMicro(reserved), text(found), {
        kind: 'RESERVED_COLLATERAL',
        wallet,
        asset: 'COLLATERAL',
        detail: 'collateral reserved, against the open BUY orders of the wallet',
      });
    }
    if (account?.onChain) {
      findings.compare(formatMicro(resting.get(wallet) ?? 0), formatMicro(account.onChain.restingMicro), {
        kind: 'UNSETTLED',
        wallet,
        asset: 'COLLATERAL',
        detail: 'tokens of all markets reserved, against the open SELL orders of the wallet',
      });
    }
    await yieldToEventLoop();
  }
  for (const [marketId, holders] of snapshot.tokens) {
    const ofMarket = expected.tokens.get(marketId);
    for (const wallet of new Set([...holders.keys(), ...(ofMarket?.keys() ?? [])])) {
      const held = holders.get(wallet);
      if (held) {
        balances++;
        checkHolding(snapshot, wallet, marketId, held, findings);
      }
      for (const outcome of [0, 1] as const) {
        const at = { wallet, marketId, asset: ASSETS[outcome] } as const;
        if (held) checkRange(held[outcome], at, findings);
        const reserved = ofMarket?.get(wallet)?.[outcome] ?? 0;
        const found = held?.[outcome].reservedMicro ?? 0;
        if (reserved === found) continue;
        findings.compare(formatMicro(reserved), text(found), {
          kind: 'RESERVED_TOKENS',
          ...at,
          detail: 'tokens reserved, against the open SELL orders of the wallet',
        });
      }
      await yieldToEventLoop();
    }
  }
  return balances;
}

/** By wallet: the tokens of all markets that its open orders need. */
function tokensOf({ tokens }: Expected): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const ofMarket of tokens.values())
    for (const [wallet, [yes, no]] of ofMarket) sums.set(wallet, (sums.get(wallet) ?? 0) + yes + no);
  return sums;
}

function checkRange(
  { freeMicro, reservedMicro }: TokenAccount,
  at: { wallet: string; marketId?: MarketId; asset: 'COLLATERAL' | 'YES' | 'NO' },
  findings: Findings,
): void {
  if (isPossible(freeMicro) && isPossible(reservedMicro)) return;
  findings.add({
    kind: 'BALANCE_OUT_OF_RANGE',
    ...at,
    found: `${text(freeMicro)} free, ${text(reservedMicro)} reserved`,
    detail: 'no account can hold this',
  });
}

/** An account without tokens is not noticed when its market is paid out. */
function checkHolding(
  { holdings }: Snapshot,
  wallet: string,
  marketId: MarketId,
  held: readonly [TokenAccount, TokenAccount],
  findings: Findings,
): void {
  if (holdings.has(`${wallet} ${marketId}`) || total(held[0]) + total(held[1]) === 0n) return;
  const detail = 'the wallet holds tokens of a market that the list of its markets does not name';
  findings.add({ kind: 'HOLDINGS', wallet, marketId, expected: 'named', found: 'not named', detail });
}

export const total = (account: TokenAccount): bigint => sum(account.freeMicro) + sum(account.reservedMicro);
/** Impossible amounts are reported elsewhere; in a sum they would hide other errors. */
const sum = (amount: number): bigint => (isPossible(amount) ? BigInt(amount) : 0n);
