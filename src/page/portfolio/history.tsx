import type { Activity } from 'ctf-exchange-client';
import { useState } from 'preact/hooks';
import { account } from '../account-data';
import { whyFailed } from '../chain-words';
import { wallet } from '../exchange';
import { remembered } from '../market-list-data';
import { nameOf, namesOf } from '../outcome-names';
import { Moment } from '../parts/moment';
import { Notice } from '../parts/notice';
import { centsOf, counted, dollars, lotsOf, microOf, PIPS_ONE, shares, signedDollars } from '../units';
import { wordsFor } from '../words';
import { csvOf, download } from './csv';
import { FILE_LINES_MAX, type Journal, wholeJournal } from './data';
import { MarketLink } from './tables';

const KINDS: readonly (readonly [Activity['type'] | 'ALL', string])[] = [
  ['ALL', 'Everything'],
  ['TRADE', 'Trades'],
  ['REDEEM', 'Payouts'],
  ['SPLIT', 'Splits'],
  ['MERGE', 'Merges'],
  ['GRANT', 'Starting funds'],
  ['FAUCET', 'Test funds'],
  ['REVERSAL', 'Failed trades'],
];

/** All changes of the balances, newest first. */
export const History = ({ journal }: { readonly journal: Journal }) => {
  const [kind, setKind] = useState<Activity['type'] | 'ALL'>('ALL');
  const [said, setSaid] = useState<string | null>(null);
  const isChosen = ({ type }: Activity): boolean => kind === 'ALL' || type === kind;
  const rows = journal.activity.filter(isChosen);
  const save = async (): Promise<void> => {
    setSaid('Reading all lines…');
    try {
      const all = await wholeJournal();
      download('history.csv', csvOf(all, isChosen));
      setSaid(all.length < FILE_LINES_MAX ? null : `The file has the first ${all.length} lines.`);
    } catch (error) {
      setSaid(wordsFor(error).text);
    }
  };
  return (
    <>
      <div class="history-head">
        <select
          aria-label="Kind"
          value={kind}
          onChange={({ currentTarget }) => setKind(currentTarget.value as Activity['type'] | 'ALL')}
        >
          {KINDS.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
        {said && (
          <p class="hint" role="status">
            {said}
          </p>
        )}
        <button
          type="button"
          class="button button-small"
          disabled={rows.length === 0}
          title="All lines with fees and, for each sale and payout, the gain by average cost"
          onClick={() => void save()}
        >
          CSV
        </button>
      </div>
      {rows.length === 0 ? (
        <Notice title="Nothing yet">Trades, payouts and test funds will appear here.</Notice>
      ) : (
        <ul class="orders">
          {rows.map((one) => (
            <Row key={one.id} one={one} />
          ))}
        </ul>
      )}
      {journal.nextCursor !== null && (
        <button type="button" class="button button-quiet" onClick={journal.more}>
          Show older
        </button>
      )}
    </>
  );
};

const Row = ({ one }: { readonly one: Activity }) => (
  <li class="order" data-testid="activity" data-type={one.type}>
    <span class="order-question">
      {one.marketId === null ? (
        one.type === 'GRANT' ? (
          'Starting funds'
        ) : (
          'Test funds'
        )
      ) : (
        <MarketLink marketId={one.marketId} />
      )}
    </span>
    <span class="order-what">{wordsOf(one)}</span>
    <span class="order-filled" />
    <span class="order-status">{signedDollars(microOf(one.changes.collateral))}</span>
    <span class="order-act">
      <Moment at={one.occurredAt} />
    </span>
  </li>
);

/** The journal does not name the trade; the reason is known when it is that of all that failed in the market. */
function failureIn(marketId: string | null): string {
  const failed = (account.get().trades ?? []).filter(
    (trade) => trade.marketId === marketId && trade.settlementStatus === 'FAILED',
  );
  const [reason, ...others] = new Set(failed.map((trade) => whyFailed(trade, wallet.get()?.address)));
  return reason !== undefined && others.length === 0
    ? reason
    : 'A trade failed on the chain: nothing was paid. My trades say why.';
}

function wordsOf(one: Activity): string {
  const market = one.marketId === null ? undefined : remembered(one.marketId);
  switch (one.type) {
    case 'TRADE': {
      const did = one.side === 'BUY' ? 'Bought' : 'Sold';
      const name = nameOf(market, one.outcomeIndex ?? 0);
      return `${did} ${shares(lotsOf(one.size ?? '0'))} ${name} at ${centsOf(one.price ?? '0')}`;
    }
    case 'REDEEM':
      return 'Paid out';
    case 'REVERSAL':
      return failureIn(one.marketId);
    case 'SPLIT':
    case 'MERGE': {
      const lots = Math.abs(Math.floor(microOf(one.changes.yes) / PIPS_ONE));
      const [yes, no] = namesOf(market);
      const pairs = `${counted(lots, 'pair')} of ${yes} and ${no}`;
      return one.type === 'SPLIT' ? `Split into ${pairs}` : `Merged ${pairs}`;
    }
    default:
      return `Received ${dollars(microOf(one.changes.collateral))}`;
  }
}
