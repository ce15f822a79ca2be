import { type Payouts, payoutsOf } from '../../chain/conditions';
import type { OutcomeIndex } from '../../exchange/market';
import type { WantedResult } from '../../store/chain/requests';
import { forEachMarket } from '../each';
import type { Chore } from '../schedule';
import type { OnChainParts } from './open';

interface ResolveParts extends OnChainParts {
  /** Every market that the exchange knows. */
  readonly marketIds: () => Promise<readonly string[]>;
}

const RESOLVE_EVERY_MS = 500;
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
    if (state.status === 'RESOLVED' || state.status === 'VOIDED') {
      await requests.reported(id);
      return true;
    }
    if (state.status === 'DRAFT') return false;
    const payouts = await conditions.payouts(terms, block);
    if (payouts === null) return false;
    const outcome = outcomeOf(payouts);
    if (outcome === undefined) {
      throw new Error(`the chain pays ${payouts.join(' to ')}, which is no result of this exchange`);
    }
    await markets.resolve(id, outcome, evidence);
    await requests.reported(id);
    return true;
  };
}

/** Reports the results that operators have set, where the worker has the oracle's key, and takes them over when they are final. */
export function createReportResults(parts: ResolveParts): Chore {
  const { requests, conditions, finalBlock, view, oracle } = parts;
  const follow = createFollow(parts);

  async function report(id: string, wanted: WantedResult, block: string): Promise<void> {
    if (await follow(id, block, wanted.evidence)) return;
    const { terms } = await view(id);
    if (oracle === null || terms.oracle.toLowerCase() !== oracle.address.toLowerCase()) return;
    if ((await conditions.payouts(terms, 'latest')) !== null) return;
    await oracle.send([conditions.report(terms, payoutsOf(wanted.outcome))]);
  }

  return {
    name: 'report-results',
    everyMs: RESOLVE_EVERY_MS,
    async run() {
      const wanted = await requests.wantedResults();
      if (wanted.size === 0) return;
      const block = await finalBlock();
      await forEachMarket([...wanted.keys()].slice(0, MARKETS_MAX), async (id) => {
        const result = wanted.get(id);
        if (result) await report(id, result, block);
      });
    },
  };
}

/** Takes over the results that others have reported. Each round asks about some of the markets, in turn. */
export function createFollowResults(parts: ResolveParts): Chore {
  const { finalBlock, marketIds } = parts;
  const follow = createFollow(parts);
  let next = 0;
  return {
    name: 'follow-results',
    everyMs: FOLLOW_EVERY_MS,
    async run() {
      const all = await marketIds();
      if (next >= all.length) next = 0;
      const some = all.slice(next, next + MARKETS_MAX);
      next += MARKETS_MAX;
      const block = await finalBlock();
      await forEachMarket(some, async (id) => {
        await follow(id, block, null);
      });
    },
  };
}
