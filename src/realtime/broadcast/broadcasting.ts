import type { History } from '../../store/candles/history';
import type { Reads } from '../../store/reads/reads';
import { type BroadcasterDeps, startTerm } from './broadcaster';
import { createLeadership, type Leadership, type LeadershipDeps } from './leadership';
import { createTickers } from './tickers';

export interface BroadcastingDeps
  extends Omit<BroadcasterDeps, 'moved'>,
    Pick<LeadershipDeps, 'onBegin' | 'onRelease' | 'patienceMs'> {
  readonly reads: Pick<Reads, 'market' | 'view' | 'clock'>;
  readonly history: Pick<History, 'day'>;
}

/** The broadcasting of this process: nothing while another process has the lease, else all of it. */
export function createBroadcasting(deps: BroadcastingDeps): Leadership {
  return createLeadership({
    ...deps,
    lease: deps.broadcasts.lease,
    begin: (token, leaseMs, from) => {
      const tickers = createTickers(deps);
      const term = startTerm({ ...deps, moved: tickers.moved }, token, leaseMs, from);
      void term.ended.then(tickers.stop);
      return term;
    },
  });
}
