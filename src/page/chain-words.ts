import type { Balances, ChainSettlement, FailureReason, SettlementStatus } from 'ctf-exchange-client';
import { dayAndTime, exactTime, nowMs } from './units';
import type { Say } from './words';

/** The words for a chain: the progress of a trade, the cause of a failure, and refusals. */

type Open = Exclude<SettlementStatus, 'CONFIRMED' | 'FAILED'>;

const SETTLED: Readonly<Record<Open, string>> = {
  MATCHED: 'Not yet spendable: waiting to be sent to the chain',
  SUBMITTED: 'Not yet spendable: sent to the chain',
  RETRYING: 'Not yet spendable: it is sent again',
};

interface Fault {
  /** After the name of the wallet. */
  readonly did: string;
  /** What its owner can do. */
  readonly next: string;
}

const OF_WALLETS: Readonly<Record<string, Fault>> = {
  COLLATERAL: {
    did: 'lacked the money when the chain took the trade',
    next: 'Keep the money of your orders in your wallet.',
  },
  ALLOWANCE: {
    did: 'no longer let the exchange contract take the money',
    next: 'Approve the exchange again.',
  },
  TOKENS: {
    did: 'lacked the shares when the chain took the trade',
    next: 'Keep the shares that you offer in your wallet.',
  },
  APPROVAL: {
    did: 'no longer let the exchange contract take the shares',
    next: 'Approve the exchange again.',
  },
  CANCELLED: {
    did: 'had cancelled the order on the chain',
    next: 'Cancel here, too, before others meet the order.',
  },
  NONCE: {
    did: 'had voided its older orders on the chain',
    next: 'Place the order again: it is signed with your new nonce.',
  },
  SIGNATURE: {
    did: 'no longer stands by the signature of the order',
    next: 'If the owners of your wallet have changed, sign the order again.',
  },
  CALLBACK: {
    did: 'could not pay, because the token refused the transfer',
    next: 'Find out why the token does not leave your wallet.',
  },
} satisfies Partial<Record<FailureReason, Fault>>;

/** No wallet is at fault. */
const OF_THE_EXCHANGE: Readonly<Record<string, string>> = {
  EXPIRED: 'the order expired before the chain took the trade',
  PAUSED: 'the exchange contract was paused',
  NOT_OPERATOR: 'the exchange was not allowed to settle it',
  INVALID_TOKEN: 'the exchange contract does not know the shares of this market',
  OUT_OF_GAS: 'the transaction ran out of gas',
  RESOLVED: 'the market was paid out before the chain took the trade',
  UNKNOWN: 'the exchange contract refused it',
} satisfies Partial<Record<FailureReason, string>>;

type Progress = ChainSettlement & { readonly settlementStatus: SettlementStatus };

const isSame = (a: string | undefined, b: string | undefined): boolean =>
  a !== undefined && a.toLowerCase() === b?.toLowerCase();

/** How far the chain is with a trade of the wallet `own`: sent, in a block, final. */
export function progressOf(trade: Progress, own?: string): string {
  const { settlementStatus, blockNumber } = trade;
  if (settlementStatus === 'FAILED') return whyFailed(trade, own);
  if (settlementStatus === 'CONFIRMED')
    return blockNumber === undefined ? 'Final' : `Final in block ${blockNumber}`;
  return blockNumber === undefined
    ? SETTLED[settlementStatus]
    : `Not yet spendable: in block ${blockNumber}, final soon`;
}

const FREE_AGAIN = 'What you had in it is free again; place the order again if you still want it.';

/** The wallet at fault, its fault, that nothing was paid, and the next step. */
export function whyFailed(
  { failureReason = 'UNKNOWN', failedWallet }: ChainSettlement,
  own?: string,
): string {
  const fault = OF_WALLETS[failureReason];
  if (fault && isSame(failedWallet, own))
    return `Failed: your wallet ${fault.did}. Nothing was paid. ${fault.next}`;
  if (fault && failedWallet !== undefined)
    return `Failed: the other wallet, ${failedWallet.slice(0, 6)}…${failedWallet.slice(-4)}, ${fault.did}. Nothing was paid. ${FREE_AGAIN}`;
  const why = OF_THE_EXCHANGE[failureReason] ?? 'the orders do not fit each other any more';
  return `Failed: ${why}. Nothing was paid, and no wallet is at fault. ${FREE_AGAIN}`;
}

const DAY_MS = 86_400_000;

/** "14:05:10", and with its day where that is not near. */
function timeOf(until: unknown): string {
  const at = new Date(String(until));
  if (Number.isNaN(at.getTime())) return 'later';
  const ms = at.getTime();
  return `at ${ms - nowMs() < DAY_MS / 2 ? exactTime(ms) : dayAndTime(ms)}`;
}

const DOLLARS = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 0,
});
const money = (value: unknown): string => DOLLARS.format(Number(value ?? 0));

interface Suspension {
  readonly until: unknown;
  readonly failureReason: unknown;
  readonly strikes: unknown;
}

export function suspended({ until, failureReason, strikes }: Suspension): string {
  const did = OF_WALLETS[String(failureReason)]?.did ?? 'could not do what its order said';
  const next = strikes === 1 ? 'an hour' : 'a day';
  return `You may order again ${timeOf(until)}, because a trade of yours failed: your wallet ${did}. If that happens again within 30 days, you wait for ${next}. You can still cancel.`;
}

type Standing = NonNullable<Balances['standing']>;

/** The words of refusals that only funds on a chain bring. `standingOf` returns that of the wallet. */
export const refusalsOnChain = (standingOf: () => Standing | undefined): Readonly<Record<string, Say>> => ({
  INSUFFICIENT_ALLOWANCE: ({ asset }) =>
    `The exchange contract may not take ${asset === undefined || asset === 'COLLATERAL' ? 'this much of your money' : 'your shares'} yet. Approve the exchange, and wait some seconds until that is final.`,
  UNSETTLED_LIMIT: (facts) => unsettled(facts, standingOf()),
  WALLET_SUSPENDED: ({ until, failureReason, strikes }) => suspended({ until, failureReason, strikes }),
  ON_CHAIN: () => 'Your own wallet does this.',
});

function unsettled(
  { limit, unsettled: now, detail, scope }: Parameters<Say>[0],
  standing?: Standing,
): string {
  if (scope === 'FRESH_FUNDS')
    return `Funds that came into your wallet lately count fully after half a minute; until then ${money(limit)} of them may be ordered with. Make the order smaller, or wait.`;
  if (scope === 'ADDRESS')
    return 'New wallets of your network have too many trades that wait for the chain or have failed. Wait some seconds.';
  const withOrders = /open orders/.test(String(detail));
  const what = withOrders ? 'trades and open orders' : 'trades';
  const advice = withOrders
    ? 'Cancel open orders, or wait until trades are final.'
    : 'Make the order smaller, or wait some seconds until trades are final.';
  return `Of your ${what}, ${money(limit)} may wait for the chain at once, and ${money(now)} do. ${advice} ${growthOf(standing)}`;
}

function growthOf(standing?: Standing): string {
  if (!standing) return 'The limit grows tenfold when ten times as much has been settled.';
  const { settled, growsAt } = standing;
  if (growsAt === null) return 'The limit of a contract wallet does not grow.';
  return `The limit grows tenfold when trades worth ${money(growsAt)} have been settled; ${money(settled)} have.`;
}
