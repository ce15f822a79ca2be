import { type FaultReason, LIMIT_SCOPES } from '../../exchange/chain';
import { Refusal } from '../../exchange/errors';
import { formatMicro } from '../../exchange/units';
import { unpackStrikes } from '../records/strikes';

/** The refusals of a wallet that the exchange trusts too little (src/extensions/chain/lua/lib/trust.lua), in words. */

/** The deed of the wallet for which a settlement failed. Other reasons are no strike. */
const DEEDS: { readonly [Reason in FaultReason]?: string } = {
  NONCE: 'it had raised its nonce above that of its order',
  SIGNATURE: 'its signature was not valid any more',
  CANCELLED: 'it had cancelled its order on the contract',
  COLLATERAL: 'it had too little collateral',
  ALLOWANCE: 'the exchange contract might not take enough of its collateral',
  TOKENS: 'it had too few tokens',
  APPROVAL: 'the exchange contract might not take its tokens',
};

export function suspended(packed: Buffer): Refusal {
  const { count, untilMs, reason, tradeId } = unpackStrikes(packed);
  const until = new Date(untilMs).toISOString();
  const next = count === 1 ? 'an hour' : 'a day';
  const deed = DEEDS[reason] ?? 'the chain refused it';
  const text = `trade ${tradeId} of the wallet failed (${reason}): ${deed}; it may order again from ${until}, and its cancels work; that was strike ${count}, and another one within 30 days suspends it for ${next}`;
  return new Refusal('WALLET_SUSPENDED', text, { until, failureReason: reason, tradeId, strikes: count });
}

/** BLOCKS of src/extensions/chain/lua/lib/fresh.lua. */
const FRESH_BLOCKS = 50;

export function tooMuch(detail: readonly unknown[]): Refusal {
  const [limitMicro = 0, waiting = 0, isResting, settled = 0, growsAt = 0, value = 0] = detail.map(Number);
  const [limit, unsettled, required] = [limitMicro, waiting, value].map((micro) => formatMicro(micro));
  const grows =
    growsAt === 0
      ? 'the limit of a contract wallet does not grow'
      : `the limit grows tenfold with trades worth ${formatMicro(growsAt)} that are settled, so far it is ${formatMicro(settled)}`;
  const scope = LIMIT_SCOPES[isResting ?? 0] ?? 'MATCHES';
  const why =
    scope === 'FRESH_FUNDS'
      ? `only ${limit} of these funds count yet: what comes into a wallet counts fully once it has been there for ${FRESH_BLOCKS} final blocks; open orders and matches need ${unsettled} of it, and this order ${required}: make it smaller, or wait`
      : scope === 'ADDRESS'
        ? `new wallets of your network address have matches worth ${unsettled} that wait for the chain or have failed lately; with this order, which counts for ${required}, they may pass ${limit}: wait until matches are settled`
        : isResting === 1
          ? `matches and open orders worth ${unsettled} may wait for the chain; with this order, which counts for ${required}, they pass ${limit} (${grows}): cancel some, or wait until matches are settled`
          : `matches worth ${unsettled} wait for the chain; with this order, which counts for ${required}, they may pass ${limit} (${grows}): make it smaller, or wait until some are settled`;
  return new Refusal('UNSETTLED_LIMIT', why, { limit, unsettled, required, scope });
}
