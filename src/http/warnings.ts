import type { MarketView } from '../exchange/facts';
import type { Check } from '../store/health/doctor';
import type { HttpDeps } from './context';

/** What needs an operator's attention: now (red), or soon (amber). */
export interface Warning {
  /** As `exchange doctor` names it. */
  readonly name: string;
  readonly level: 'red' | 'amber';
  readonly detail: string;
}

/** Trading has ended and no holder is paid yet, so an operator must resolve the market. */
export function isEnded({ state: { status }, texts: { closesAtMs } }: MarketView, nowMs: number): boolean {
  if (status === 'CLOSED') return true;
  return (status === 'OPEN' || status === 'PAUSED') && closesAtMs !== null && closesAtMs <= nowMs;
}

/** A failed settlement of this age is history. */
const FAILED_MS_MAX = 86_400_000;

const redOf = ({ name, detail }: Check): Warning => ({ name, level: 'red', detail });

/** The same list for `GET /admin/overview` and `GET /readyz?verbose`; empty when nothing needs attention. */
export async function warningsOf({
  operations,
  settlements,
  marketList,
  reads,
}: Pick<HttpDeps, 'operations' | 'settlements' | 'marketList' | 'reads'>): Promise<readonly Warning[]> {
  const nowMs = reads.clock();
  const [checks, failed, markets] = await Promise.all([
    operations.watched(),
    settlements.list({ status: 'FAILED', marketId: undefined }, { limit: 1, cursor: null }),
    marketList(),
  ]);
  const ended = markets.filter((market) => isEnded(market, nowMs)).length;
  const newest = failed.records[0];
  const found = checks.filter(({ verdict }) => verdict !== 'ok').map(redOf);
  if (newest && nowMs - newest.createdAtMs < FAILED_MS_MAX)
    found.push({ name: 'settlement', level: 'red', detail: 'one of the last 24 hours has FAILED' });
  if (ended > 0) {
    const which = ended === 1 ? '1 market has' : `${ended} markets have`;
    found.push({ name: 'resolution', level: 'amber', detail: `${which} ended and no result` });
  }
  return found;
}
