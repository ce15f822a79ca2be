import type { MarketView } from '../../../exchange/facts';
import type { OutcomeIndex } from '../../../exchange/market';
import { runEachMarket } from '../../../jobs/run-each';
import type { Chore } from '../../../jobs/schedule';
import { type Payouts, payoutsOf } from '../contracts/conditions';
import { type OnChainParts, sendEach } from './open';

interface ResolveParts extends OnChainParts {
  /** The time of Redis. */
  readonly now: () => number;
  /** Every market that the exchange knows. */
  readonly allMarkets: () => Promise<readonly MarketView[]>;
  /** The markets with matches that the chain has not settled yet. */
  readonly unsettledMarkets: () => Promise<ReadonlySet<string>>;
}

/** An operator who withdraws a result knows the clock of Redis as little exactly as this process. */
const CLOCK_MARGIN_MS = 1_000;
/** Matches that wait for the chain longer than this hold up no result. */
const MATCHES_MS_MAX = 600_000;
const FOLLOW_EVERY_MS = 5_000;
const MARKETS_MAX = 200;

/** Undefined for a result that is neither an outcome nor an equal split. */
function outcomeOf([yes, no]: Payouts): OutcomeIndex | null | undefined {
  if (yes === no) return null;
  if (no === 0n) return 0;
  return yes === 0n ? 1 : undefined;
}

/** The chain decides how a market ended: here its result is taken over once it is final. */
function createFollow({ conditions, view, markets, requests }: ResolveParts) {
  return async (id: string, block: string, evidence: string | null): Promise<boolean> => {
    const { state, terms } = await view(id);
    if (state.status === 'DRAFT') return false;
    // The block with the result of a market that has ended may have been replaced.
    const payouts = await conditions.payouts(terms, block);
    if (payouts === null) return false;
    if (state.status === 'RESOLVED' || state.status === 'VOIDED') {
      await requests.reported(id);
      return true;
    }
    const outcome = outcomeOf(payouts);
    if (outcome === undefined) {
      // A trader who knows the result must not meet one who does not, while an operator decides.
      if (state.status !== 'CLOSED') await markets.close(id);
      throw new Error(`the chain pays ${payouts.join(' to ')}, which is no result of this exchange`);
    }
    await markets.resolve(id, outcome, evidence);
    await requests.reported(id);
    return true;
  };
}

/**
 * Reports the results that operators have set, where the worker has the oracle's key, and takes them over when they are final. The
 * market's last matches are settled first, because the contract refuses them once the condition is paid out.
 */
export function createReportResults(parts: ResolveParts) {
  const { requests, conditions, finalBlock, view, oracle, now, unsettledMarkets } = parts;
  const follow = createFollow(parts);

  return async (): Promise<void> => {
    const wanted = [...(await requests.wantedResults())].slice(0, MARKETS_MAX);
    if (wanted.length === 0) return;
    const block = await finalBlock();
    const results = new Map(wanted);
    const open: MarketView['terms'][] = [];
    const unsettled = await unsettledMarkets();
    await runEachMarket(results.keys(), async (id) => {
      if (await follow(id, block, results.get(id)?.evidence ?? null)) return;
      const lateMs = now() - (results.get(id)?.dueMs ?? 0);
      if (lateMs < CLOCK_MARGIN_MS || (unsettled.has(id) && lateMs < MATCHES_MS_MAX)) return;
      const { terms } = await view(id);
      if (terms.oracle.toLowerCase() === oracle?.address.toLowerCase()) open.push(terms);
    });
    if (!oracle) return;
    await sendEach(oracle, open, async (terms) => {
      const result = results.get(terms.id);
      if (!result || (await conditions.payouts(terms, 'latest')) !== null) return null;
      return conditions.report(terms, payoutsOf(result.outcome));
    });
  };
}

const isLive = ({ state: { status } }: MarketView): boolean =>
  status !== 'DRAFT' && status !== 'RESOLVED' && status !== 'VOIDED';

/** Takes over the results that others have reported. Each round asks about some of the live markets, in turn. */
export function createFollowResults(parts: ResolveParts): Chore {
  const { finalBlock, allMarkets } = parts;
  const follow = createFollow(parts);
  let next = 0;
  return {
    name: 'follow-results',
    everyMs: FOLLOW_EVERY_MS,
    async run() {
      const live = (await allMarkets()).filter(isLive);
      if (next >= live.length) next = 0;
      const some = live.slice(next, next + MARKETS_MAX).map(({ terms }) => terms.id);
      next += MARKETS_MAX;
      if (some.length === 0) return;
      const block = await finalBlock();
      await runEachMarket(some, async (id) => {
        await follow(id, block, null);
      });
    },
  };
}
