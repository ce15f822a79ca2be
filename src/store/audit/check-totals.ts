import type { MarketState } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import { formatMicro } from '../../exchange/units';
import { FEE_ACCOUNT, type Payout } from '../records/account';
import { decodePayouts, type PayoutState } from '../records/market';
import { ASSETS, total } from './check-accounts';
import type { Findings } from './report';
import type { Snapshot } from './snapshot';
import type { EventLoopYield } from './yield-to-event-loop';

type States = ReadonlyMap<MarketId, MarketState>;

/**
 * Checks that the collateral granted equals the sum of all accounts and the collateral locked in sets, and that there are
 * as many sets as tokens of each outcome.
 */
export async function checkTotals(
  snapshot: Snapshot,
  states: States,
  findings: Findings,
  yieldToEventLoop: EventLoopYield,
): Promise<void> {
  let held = 0n;
  for (const account of snapshot.cash.values()) {
    held += total(account);
    await yieldToEventLoop();
  }
  for (const [marketId, state] of states) {
    held += BigInt(state.openInterestMicro);
    const paid = paidTokens(snapshot.payouts.get(marketId));
    const supply: [bigint, bigint] = [...paid];
    for (const accounts of snapshot.tokens.get(marketId)?.values() ?? []) {
      supply[0] += total(accounts[0]);
      supply[1] += total(accounts[1]);
      await yieldToEventLoop();
    }
    const sets = payoutState(snapshot, marketId)?.setsMicro ?? state.openInterestMicro;
    for (const outcome of [0, 1] as const) {
      findings.compare(formatMicro(sets), formatMicro(supply[outcome]), {
        kind: 'SUPPLY',
        marketId,
        asset: ASSETS[outcome],
        detail: 'tokens of all holders and those paid out, against the sets that were open',
      });
    }
    checkPayouts(snapshot, marketId, state, findings);
  }
  findings.compare(formatMicro(snapshot.granted), formatMicro(held), {
    kind: 'COLLATERAL_TOTAL',
    asset: 'COLLATERAL',
    detail: 'collateral of all accounts and locked in sets, against what was handed out',
  });
}

function payoutState({ markets }: Snapshot, marketId: MarketId): PayoutState | null {
  const packed = markets.get(marketId)?.get('r');
  return packed ? decodePayouts(packed) : null;
}

function paidTokens(payouts: ReadonlyMap<string, Payout> | undefined): [bigint, bigint] {
  let [yes, no] = [0n, 0n];
  for (const { tokensMicro } of payouts?.values() ?? []) {
    yes += BigInt(tokensMicro[0]);
    no += BigInt(tokensMicro[1]);
  }
  return [yes, no];
}

/** The final value of tokens. In a void market the last half of an odd number of micro-units is paid to no account. */
function worth({ outcome }: PayoutState, { tokensMicro: [yes, no] }: Payout): bigint {
  if (outcome === null) return (BigInt(yes) + BigInt(no)) / 2n;
  return BigInt(outcome === 0 ? yes : no);
}

/** Checks that each account was paid the value of its tokens, and that the sets equal the rest that is still to be paid. */
function checkPayouts(snapshot: Snapshot, marketId: MarketId, state: MarketState, findings: Findings): void {
  const ended = payoutState(snapshot, marketId);
  const payouts = snapshot.payouts.get(marketId);
  const hasEnded = state.status === 'RESOLVED' || state.status === 'VOIDED';
  if (!ended) {
    if (hasEnded) findings.add({ kind: 'PAYOUT', marketId, detail: 'how the market ended is not stored' });
    if (payouts)
      findings.add({ kind: 'PAYOUT', marketId, detail: 'holders were paid before the market ended' });
    return;
  }
  let paid = 0n;
  for (const [wallet, payout] of payouts ?? []) {
    paid += BigInt(payout.cashMicro);
    findings.compare(formatMicro(worth(ended, payout)), formatMicro(payout.cashMicro), {
      kind: 'PAYOUT',
      marketId,
      wallet,
      asset: 'COLLATERAL',
      detail: 'what the holder was paid for its tokens',
    });
  }
  const dust = dustOf(ended, paid);
  findings.compare(formatMicro(paid + dust), formatMicro(ended.paidMicro), {
    kind: 'PAYOUT',
    marketId,
    asset: 'COLLATERAL',
    detail: 'what all holders were paid together',
  });
  const left = BigInt(ended.setsMicro) - BigInt(ended.paidMicro);
  findings.compare(formatMicro(ended.paidAtMs > 0 ? 0 : left), formatMicro(state.openInterestMicro), {
    kind: 'PAYOUT',
    marketId,
    detail: 'open sets of a market that has ended, against what is left to be paid',
  });
}

/** The remainder of a void market after all payouts: half micro-units that add up to whole ones, which the exchange keeps. */
const dustOf = ({ outcome, paidAtMs, setsMicro }: PayoutState, paid: bigint): bigint =>
  outcome === null && paidAtMs > 0 ? BigInt(setsMicro) - paid : 0n;

/** Fees of the matches of a market. */
export interface Fees {
  cashMicro: bigint;
  readonly tokensMicro: [yes: bigint, no: bigint];
}
/** Null for a market of which later matches than those of the snapshot have left Redis. */
export type FeesByMarket = Map<MarketId, Fees | null>;

/** Checks that the fee account has the fees of the matches and the payouts of its tokens. */
export function checkFees(snapshot: Snapshot, states: States, fees: FeesByMarket, findings: Findings): void {
  let cash = 0n;
  let isKnown = true;
  for (const marketId of states.keys()) {
    const paid = snapshot.payouts.get(marketId)?.get(FEE_ACCOUNT);
    const held = snapshot.tokens.get(marketId)?.get(FEE_ACCOUNT);
    const charged = fees.get(marketId);
    isKnown &&= Boolean(charged);
    if (!charged) continue;
    for (const outcome of [0, 1] as const) {
      const found = (held ? total(held[outcome]) : 0n) + BigInt(paid?.tokensMicro[outcome] ?? 0);
      findings.compare(formatMicro(charged.tokensMicro[outcome]), formatMicro(found), {
        kind: 'FEES',
        marketId,
        asset: ASSETS[outcome],
        detail: 'tokens of the fee account, against the matches',
      });
    }
    cash += charged.cashMicro + BigInt(paid?.cashMicro ?? 0);
    const ended = payoutState(snapshot, marketId);
    if (ended) cash += dustOf(ended, sumOf(snapshot.payouts.get(marketId)));
  }
  if (!isKnown) return;
  const account = snapshot.cash.get(FEE_ACCOUNT);
  const kept = formatMicro(cash - snapshot.repaid);
  findings.compare(kept, formatMicro(account ? total(account) : 0n), {
    kind: 'FEES',
    asset: 'COLLATERAL',
    detail: 'collateral of the fee account, against the matches',
  });
}

function sumOf(payouts: ReadonlyMap<string, Payout> | undefined): bigint {
  let paid = 0n;
  for (const { cashMicro } of payouts?.values() ?? []) paid += BigInt(cashMicro);
  return paid;
}
