import type { Balance, Balances } from '../../exchange/facts';
import type { TokenPair } from '../../exchange/session';
import { formatMicro } from '../../exchange/units';
import { type ProfileFacts, presentProfile } from './social';

function presentBalance({ freeMicro, reservedMicro }: Balance) {
  return {
    total: formatMicro(freeMicro + reservedMicro),
    available: formatMicro(freeMicro),
    reserved: formatMicro(reservedMicro),
  };
}

/** The body of GET /me/balances. */
export function presentBalances(account: Balances) {
  return {
    collateral: presentBalance(account),
    tokens: account.tokens.map((token) => ({
      marketId: token.marketId,
      outcomeIndex: token.outcome,
      tokenId: token.tokenId,
      ...presentBalance(token),
    })),
  };
}

/** An operator's view of a wallet. `positions` are the outcomes of which it holds tokens. */
export function presentAdminAccount(profile: ProfileFacts, account: Balances, openOrders: number) {
  return {
    ...presentProfile(profile),
    balances: presentBalances(account),
    positions: account.tokens.length,
    openOrders,
  };
}

/** The answer of sign-in and refresh. */
export function presentSession({ address, ...tokens }: TokenPair, chainId: number) {
  return { ...tokens, user: { id: address, address, chainId } };
}
