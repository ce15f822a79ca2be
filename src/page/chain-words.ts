import type { ChainSettlement, SettlementStatus } from 'ctf-exchange-client';

const SETTLED: Readonly<Record<SettlementStatus, string>> = {
  MATCHED: 'Not yet spendable: waiting to be sent to the chain',
  SUBMITTED: 'Not yet spendable: sent to the chain',
  RETRYING: 'Not yet spendable: it is sent again',
  CONFIRMED: 'Final',
  FAILED: 'Failed: nothing was paid',
};

const FAULTS: Readonly<Record<string, string>> = {
  COLLATERAL: 'lacked the money',
  ALLOWANCE: 'had withdrawn its approval',
  APPROVAL: 'had withdrawn its approval',
  TOKENS: 'lacked the shares',
  CANCELLED: 'had cancelled its order on the chain',
  NONCE: 'had voided its orders on the chain',
  SIGNATURE: 'no longer stands by its signature',
  CALLBACK: 'could not pay, because the token refused the transfer',
};

type Progress = ChainSettlement & { readonly settlementStatus: SettlementStatus };

/** How far the chain is with a trade: sent, in a block, final. */
export function progressOf(trade: Progress): string {
  const { settlementStatus, blockNumber } = trade;
  if (settlementStatus === 'FAILED') return whyFailed(trade);
  if (blockNumber === undefined) return SETTLED[settlementStatus];
  return settlementStatus === 'CONFIRMED'
    ? `Final in block ${blockNumber}`
    : `Not yet spendable: in block ${blockNumber}, final soon`;
}

/** The wallet that failed, and that nothing was paid. */
function whyFailed({ failureReason, failedWallet }: ChainSettlement): string {
  const fault = FAULTS[failureReason ?? ''];
  if (fault === undefined || failedWallet === undefined) return SETTLED.FAILED;
  return `Failed: ${failedWallet.slice(0, 6)}…${failedWallet.slice(-4)} ${fault}. Nothing was paid.`;
}
