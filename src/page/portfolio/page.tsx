import '../app'; // In one chunk with the first view: see scripts/build-page.js.
import type { Balances, Portfolio, Timeframe } from 'ctf-exchange-client';
import { useState } from 'preact/hooks';
import { isOpen, useAccount, useWallet } from '../account-data';
import { useCell } from '../cell';
import { config, fundsWords, isReal } from '../exchange-state';
import { holdingsOf, worthIn } from '../holdings';
import { Approvals } from '../parts/approvals';
import { Notice, Skeleton } from '../parts/notice';
import { CancelAll, Orders } from '../parts/orders';
import { dollars, microOf, signedDollars, wholeCents } from '../units';
import { Curve } from './curve';
import { type Journal, useJournal } from './data';
import { Faucet } from './faucet';
import { History } from './history';
import { Closed, Gains, Positions } from './tables';
import { useWorth } from './worth';

type Tab = 'positions' | 'orders' | 'gains' | 'history' | 'closed';

/** Everything the wallet has, had and ordered. */
export const PortfolioPage = () => {
  const wallet = useWallet();
  const account = useAccount();
  const journal = useJournal();
  const [timeframe, setTimeframe] = useState<Timeframe>('1d');
  const worth = useWorth(timeframe);
  const known = useCell(config);
  return (
    <main class="portfolio-page" id="content" tabIndex={-1}>
      <h1 class="head-question">Portfolio</h1>
      {!wallet ? (
        <Notice title="Not signed in">
          {isReal(known)
            ? 'Connect your wallet.'
            : 'A test wallet takes one click and comes with test funds.'}{' '}
          {fundsWords(known)}
        </Notice>
      ) : !account.balances ? (
        <Skeleton rows={6} />
      ) : (
        <>
          <Approvals />
          <Figures worth={worth} />
          <Curve worth={worth} timeframe={timeframe} onTimeframe={setTimeframe} />
          <Tabs journal={journal} />
          {!isReal(known) && (
            <section class="card funds" aria-labelledby="funds-title">
              <h2 id="funds-title" class="card-title">
                Test funds
              </h2>
              <Faucet />
              {wallet.kind === 'test' && (
                <p class="hint">
                  This is a test wallet: its key is kept in this browser only. Never send real funds to it.
                </p>
              )}
            </section>
          )}
        </>
      )}
    </main>
  );
};

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly tone?: string;
  /** A second number, smaller. */
  readonly more?: preact.ComponentChildren;
}

const Figure = ({ name, value, tone = '', more }: FigureProps) => (
  <div class="figure">
    <dt>{name}</dt>
    <dd class={tone}>{value}</dd>
    {more && <dd class="figure-more">{more}</dd>}
  </div>
);

const toneOf = (micro: number): string => (micro === 0 ? '' : micro > 0 ? 'up' : 'down');

/** Balances show money at once; the exchange counts gains from the journal. */
const Figures = ({ worth }: { readonly worth: Portfolio | null }) => {
  const account = useAccount();
  const { balances } = account;
  if (!balances) return null;
  const [total, today] = worth ? [microOf(worth.pnl.total), microOf(worth.pnl.today)] : [null, null];
  return (
    <dl class="figures" data-testid="figures">
      <Figure name="Portfolio" value={dollars(worthIn(account) ?? 0)} />
      <Figure name="Cash" value={dollars(wholeCents(microOf(balances.collateral.available)))} />
      <Figure name="In orders" value={dollars(microOf(balances.collateral.reserved))} />
      <NotFinal balances={balances} />
      <Figure
        name="Gain"
        value={total === null ? '…' : signedDollars(total)}
        tone={toneOf(total ?? 0)}
        more={
          today !== null && (
            <>
              <span class={toneOf(today)}>{signedDollars(today)}</span> today
            </>
          )
        }
      />
    </dl>
  );
};

/** Only with funds on a chain, while trades wait for it. */
const NotFinal = ({ balances }: { readonly balances: Balances }) => {
  const [taken, brought] = [balances.collateral.unsettled ?? '0', balances.collateral.pending ?? '0'];
  if (microOf(taken) + microOf(brought) === 0) return null;
  return (
    <Figure
      name="Not final yet"
      value={`-${dollars(microOf(taken))}`}
      more={
        <>
          +{dollars(microOf(brought))}: not yet spendable, because the blocks with these trades are not final
        </>
      }
    />
  );
};

const Tabs = ({ journal }: { readonly journal: Journal | null }) => {
  const [tab, setTab] = useState<Tab>('positions');
  const account = useAccount();
  const held = holdingsOf(account);
  const open = account.orders?.filter(isOpen) ?? null;
  const choose = (value: Tab, name: string, count = 0) => (
    <button type="button" class="tab" aria-pressed={tab === value} onClick={() => setTab(value)}>
      {name}
      {count > 0 && ` (${count})`}
    </button>
  );
  return (
    <section class="card activity" aria-label="Holdings">
      <div class="activity-head">
        <fieldset class="tabs" aria-label="What to show">
          {choose('positions', 'Positions', held.length)}
          {choose('orders', 'Open orders', open?.length)}
          {choose('gains', 'Gain by market')}
          {choose('history', 'History')}
          {choose('closed', 'Closed')}
        </fieldset>
        {tab === 'orders' && open !== null && open.length > 0 && <CancelAll />}
      </div>
      {tab === 'positions' && <Positions held={held} />}
      {tab === 'orders' && <Orders orders={open} />}
      {tab === 'gains' &&
        (account.positions ? <Gains positions={account.positions} /> : <Skeleton rows={4} />)}
      {tab === 'history' && (journal ? <History journal={journal} /> : <Skeleton rows={4} />)}
      {tab === 'closed' && (journal ? <Closed closed={journal.closed} /> : <Skeleton rows={4} />)}
    </section>
  );
};
