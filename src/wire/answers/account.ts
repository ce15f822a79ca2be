import {
  type Approvals,
  type Balance,
  type Balances,
  type Owed,
  type Standing,
  type TokenBalance,
  totalOf,
} from '../../exchange/facts';
import type { TokenPair } from '../../exchange/session';
import { formatMicro, type Micro } from '../../exchange/units';
import { isoOrNull } from '../prices';

function presentBalance(balance: Balance) {
  const { freeMicro, reservedMicro, onChain } = balance;
  return {
    total: formatMicro(totalOf(balance)),
    available: formatMicro(freeMicro),
    reserved: formatMicro(reservedMicro),
    ...(onChain && {
      unsettled: formatMicro(onChain.outMicro),
      pending: formatMicro(onChain.pendingMicro),
    }),
  };
}

/** The part of the balances that only funds on a chain have. */
const presentApprovals = ({ allowanceMicro, isApprovedForTokens, asOfBlock }: Approvals, total: number) => ({
  approvals: {
    collateral: {
      allowance: formatMicro(allowanceMicro),
      enough: allowanceMicro > 0 && allowanceMicro >= total,
    },
    conditionalTokens: { approved: isApprovedForTokens },
  },
  asOfBlock,
});

const formatOrNull = (amount?: Micro | null): string | null => (amount == null ? null : formatMicro(amount));

function presentStanding({ limit, lastStrike, suspendedUntilMs, ...standing }: Standing) {
  return {
    unsettled: formatMicro(standing.unsettledMicro),
    unsettledLimit: formatOrNull(limit?.unsettledMicro),
    committed: formatMicro(standing.committedMicro),
    committedLimit: formatOrNull(limit?.committedMicro),
    settled: formatMicro(standing.settledMicro),
    growsAt: formatOrNull(limit?.growsAtMicro),
    strikes: standing.strikes,
    failureReason: lastStrike?.reason ?? null,
    tradeId: lastStrike?.tradeId ?? null,
    suspendedUntil: isoOrNull(suspendedUntilMs),
  };
}

/** By market id, then Yes before No: Redis has them in the order of a hash, which a restart changes. */
const byMarket = (a: TokenBalance, b: TokenBalance): number =>
  a.marketId < b.marketId ? -1 : a.marketId > b.marketId ? 1 : a.outcome - b.outcome;

const presentOwed = ({ token, amountMicro, call }: Owed) => ({
  marketId: token?.marketId ?? null,
  outcomeIndex: token?.outcome ?? null,
  tokenId: token?.tokenId ?? null,
  amount: formatMicro(amountMicro),
  call,
});

/** The body of GET /me/balances. */
export function presentBalances(account: Balances) {
  return {
    collateral: presentBalance(account),
    tokens: [...account.tokens].sort(byMarket).map((token) => ({
      marketId: token.marketId,
      outcomeIndex: token.outcome,
      tokenId: token.tokenId,
      ...presentBalance(token),
    })),
    ...(account.approvals && presentApprovals(account.approvals, totalOf(account))),
    ...(account.standing && { standing: presentStanding(account.standing) }),
    ...(account.owed && { owed: account.owed.map(presentOwed) }),
  };
}

/** The answer of sign-in and refresh. */
export function presentSession({ address, ...tokens }: TokenPair, chainId: number) {
  return { ...tokens, user: { id: address, address, chainId } };
}
