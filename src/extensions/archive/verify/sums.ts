import type { MarketId } from '../../../exchange/market';
import { yesPrice } from '../../../exchange/match';
import { formatMicro, formatPips } from '../../../exchange/units';
import type { Left } from '../../../store/audit/archived-part';
import { entryId, FIRST_MATCH } from '../../../store/lists/places';
import type { Fill, MatchPlace } from '../../../store/records/order';
import type { VerifyFindings } from './verify';

const SUM_MAX = BigInt(Number.MAX_SAFE_INTEGER);
const capped = (sum: bigint): string => formatMicro(sum < SUM_MAX ? sum : SUM_MAX);

/** Adds up the matches that left a market, as src/extensions/archive/lua/forget_matches.lua does. */
export function createArchivedSums(marketId: MarketId) {
  let [matches, volume, lastPips] = [0, 0n, 0];
  let last = FIRST_MATCH;
  const fees: [cash: bigint, yes: bigint, no: bigint] = [0n, 0n, 0n];

  /** A BUY pays its fee in the tokens that it receives, a SELL in collateral. */
  function charge(side: number, outcome: number, feeMicro: number): void {
    const asset = side === 1 ? 0 : outcome === 0 ? 1 : 2;
    fees[asset] += BigInt(feeMicro);
  }

  function add({ place, fills }: { readonly place: MatchPlace; readonly fills: readonly Fill[] }): void {
    matches++;
    last = place;
    for (const fill of fills) {
      const { takerSide, takerOutcome, matchType } = fill;
      const isSame = matchType === 'COMPLEMENTARY';
      volume += BigInt(fill.sizeLots * fill.pricePips);
      lastPips = yesPrice(fill.pricePips, takerOutcome);
      charge(takerSide, takerOutcome, fill.takerFeeMicro);
      charge(
        isSame ? 1 - takerSide : takerSide,
        isSame ? takerOutcome : 1 - takerOutcome,
        fill.makerFeeMicro,
      );
    }
  }

  function check(left: Left, findings: VerifyFindings): void {
    findings.compare(String(matches), String(left.matches), {
      kind: 'ARCHIVE_ROWS',
      marketId,
      name: 'matches',
      detail: 'matches of the market in the archive, against the number noted of those that left',
    });
    findings.compare(capped(volume), formatMicro(left.volumeMicro), {
      kind: 'VOLUME',
      marketId,
      detail: 'value of the archived matches, against that noted of those that left',
    });
    const noted = [left.feeMicro, left.yesFeeMicro, left.noFeeMicro];
    for (const [i, asset] of (['COLLATERAL', 'YES', 'NO'] as const).entries()) {
      findings.compare(capped(fees[i] ?? 0n), formatMicro(noted[i] ?? 0), {
        kind: 'FEES',
        marketId,
        asset,
        detail: 'fees of the archived matches, against those noted',
      });
    }
    const found = `${formatPips(left.lastPips)} at ${entryId(left)}`;
    findings.compare(`${formatPips(lastPips)} at ${entryId(last)}`, found, {
      kind: 'LAST_TRADE',
      marketId,
      detail: 'price in Yes and place of the last archived match',
    });
  }

  return { add, check, matches: () => matches };
}
