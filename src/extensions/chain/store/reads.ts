import type { Balance, Balances, Owed, Standing, TokenBalance } from '../../../exchange/facts';
import { trustLimitOf } from '../../../exchange/trust';
import { lots, type Micro, micro } from '../../../exchange/units';
import type { Reads } from '../../../store/reads/reads';
import { isRemembered } from '../../../store/records/strikes';
import type { ChainAccount, ChainAccounts, ChainAsset } from './accounts';

const NOTHING: ChainAsset = {
  balanceMicro: micro(0),
  heldMicro: micro(0),
  capMicro: null,
  reservedMicro: micro(0),
  outMicro: micro(0),
  pendingMicro: micro(0),
  freeMicro: micro(0),
};
/** A wallet that was never read, and has not ordered. */
const UNKNOWN: ChainAccount = {
  asOfBlock: 0,
  nonce: 0,
  hasCode: false,
  approvedForAll: false,
  allowanceMicro: micro(0),
  collateral: NOTHING,
  tokens: [],
  unsettledMicro: micro(0),
  settledMicro: micro(0),
  restingMicro: micro(0),
  strikes: null,
};

const NONE = { settledLots: lots(0), failedLots: lots(0) };

const free = ({ freeMicro }: ChainAsset): Micro => micro(Math.max(0, freeMicro));

const balanceOf = (asset: ChainAsset): Balance => ({
  freeMicro: free(asset),
  reservedMicro: asset.reservedMicro,
  onChain: {
    balanceMicro: asset.balanceMicro,
    outMicro: asset.outMicro,
    pendingMicro: asset.pendingMicro,
  },
});

const isEmpty = ({ balanceMicro, reservedMicro, outMicro, pendingMicro }: ChainAsset): boolean =>
  balanceMicro + reservedMicro + outMicro + pendingMicro === 0;

function standingOf(account: ChainAccount, firstMicro: Micro, nowMs: number): Standing {
  const { unsettledMicro, settledMicro, restingMicro, collateral, hasCode, strikes } = account;
  const remembered = strikes && isRemembered(strikes, nowMs) ? strikes : null;
  return {
    limit: trustLimitOf(firstMicro, settledMicro, hasCode),
    unsettledMicro,
    settledMicro,
    committedMicro: micro(unsettledMicro + collateral.reservedMicro + restingMicro),
    strikes: remembered?.count ?? 0,
    lastStrike: remembered && { reason: remembered.reason, tradeId: remembered.tradeId },
    suspendedUntilMs: remembered && remembered.untilMs > nowMs ? remembered.untilMs : null,
  };
}

export interface AccountReadsOptions {
  readonly accounts: Pick<ChainAccounts, 'chainAccount' | 'settledLots'>;
  readonly market: Reads['market'];
  /** The amounts that the exchange contract holds for a wallet. */
  readonly owed: (address: string) => readonly Owed[];
  /** The limit of a new wallet; 0 for none. */
  readonly unsettledMaxNewMicro: Micro;
  /** The time of Redis. */
  readonly now: () => number;
}

/** The reads of accounts with funds on a chain; all others are those of paper funds. */
export function accountReads({
  accounts,
  market,
  owed,
  unsettledMaxNewMicro,
  now,
}: AccountReadsOptions): Pick<Reads, 'balances' | 'nonce' | 'settledLots'> {
  const accountOf = async (address: string): Promise<ChainAccount> =>
    (await accounts.chainAccount(address)) ?? UNKNOWN;

  async function balances(address: string): Promise<Balances> {
    const account = await accountOf(address);
    const tokens: TokenBalance[] = [];
    for (const { marketId, assets } of account.tokens) {
      const owner = await market(marketId);
      if (!owner) throw new Error(`tokens of an unknown market ${marketId}`);
      for (const outcome of [0, 1] as const) {
        const asset = assets[outcome];
        if (isEmpty(asset)) continue;
        tokens.push({ marketId, outcome, tokenId: owner.terms.tokenIds[outcome], ...balanceOf(asset) });
      }
    }
    return {
      ...balanceOf(account.collateral),
      tokens,
      approvals: {
        asOfBlock: account.asOfBlock,
        allowanceMicro: account.allowanceMicro,
        isApprovedForTokens: account.approvedForAll,
      },
      standing: standingOf(account, unsettledMaxNewMicro, now()),
      owed: owed(address),
    };
  }

  return {
    balances,
    nonce: async (address) => (await accountOf(address)).nonce,
    settledLots: async (orderHash) => (await accounts.settledLots([orderHash])).get(orderHash) ?? NONE,
  };
}
