import type { Market } from 'ctf-exchange-client';
import { useState } from 'preact/hooks';
import { dollars, microOf } from '../units';
import { act, get, nowMs, type Page } from './api';
import { MarketForm } from './market-form';
import { Choice, Confirmed, Field, Pager, Problem, Table, timeWords } from './parts';
import { Resolve } from './resolve';
import { useAction, useLoaded } from './use';

const FILTERS = [
  ['', 'All, ended first'],
  ['ENDED', 'Ended, unresolved'],
  ['OPEN', 'Open'],
  ['PAUSED', 'Paused'],
  ['CLOSED', 'Closed'],
  ['DRAFT', 'Drafts'],
  ['RESOLVED', 'Resolved'],
  ['VOIDED', 'Voided'],
] as const;
type Filter = (typeof FILTERS)[number][0];

const PAGE = '50';
const EVERY_MS = 10_000;

type Doing =
  | { readonly what: 'create' }
  | { readonly what: 'add' | 'edit' | 'close' | 'resolve'; readonly market: Market };

const isEnded = ({ status, closesAt }: Market): boolean =>
  status === 'CLOSED' ||
  ((status === 'OPEN' || status === 'PAUSED') && closesAt !== null && Date.parse(closesAt) <= nowMs());

export function Markets() {
  const [filter, setFilter] = useState<Filter>('');
  const [words, setWords] = useState('');
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const [doing, setDoing] = useState<Doing | null>(null);
  const cursor = cursors.at(-1) ?? '';
  const query = { status: filter, q: words.trim(), limit: PAGE, cursor };
  const list = useLoaded(() => get<Page<Market>>('/admin/markets', query), [filter, words, cursor], EVERY_MS);
  const done = (): void => {
    setDoing(null);
    list.again();
  };
  if (doing) return <Work doing={doing} onDone={done} onBack={() => setDoing(null)} />;
  return (
    <>
      <div class="tools">
        <Choice
          label="Show"
          value={filter}
          options={FILTERS}
          onValue={(next) => {
            setCursors([]);
            setFilter(next);
          }}
        />
        <Field
          label="Find"
          value={words}
          onValue={(next) => {
            setCursors([]);
            setWords(next);
          }}
        />
        <button type="button" class="button button-primary" onClick={() => setDoing({ what: 'create' })}>
          New market
        </button>
      </div>
      <Problem text={list.error} />
      {list.value && (
        <Table
          caption="Markets"
          head={['Market', 'Status', 'Closes', 'Volume today', 'Open interest', 'Actions']}
          amounts={['Volume today', 'Open interest']}
          empty="No such market."
          rows={list.value.data.map((market) => ({
            key: market.id,
            cells: [
              <>
                <a href={`/m/${market.slug}`}>{market.question}</a>
                {market.event && (
                  <small>
                    <a href={`/e/${market.event.slug}`}>{market.event.title}</a>
                  </small>
                )}
              </>,
              <Status market={market} />,
              timeWords(market.closesAt),
              dollars(microOf(market.volume24h)),
              dollars(microOf(market.openInterest)),
              <RowActions market={market} onDoing={setDoing} onDone={list.again} />,
            ],
          }))}
        />
      )}
      <Pager
        cursors={cursors}
        next={list.value?.nextCursor}
        names={['Back', 'More markets']}
        onCursors={setCursors}
      />
    </>
  );
}

function Status({ market }: { market: Market }) {
  const { status, resolution, outcomes } = market;
  const won = resolution?.outcomeIndex ?? null;
  const name = won === null ? '' : `: ${outcomes[won]?.name}`;
  return (
    <span class={`status status-${status.toLowerCase()}`}>
      {status}
      {name}
      {isEnded(market) && ' – to resolve'}
    </span>
  );
}

interface RowProps {
  readonly market: Market;
  readonly onDoing: (doing: Doing) => void;
  readonly onDone: () => void;
}

function RowActions({ market, onDoing, onDone }: RowProps) {
  const action = useAction();
  const { id, status, question, resolution, event } = market;
  const step = async (verb: string): Promise<void> => {
    if (await action.run(() => act('POST', `/admin/markets/${id}/${verb}`, undefined, question))) onDone();
  };
  const button = (words: string, onClick: () => void) => (
    <button
      type="button"
      class="button button-small"
      disabled={action.isBusy}
      aria-label={`${words}: ${question}`}
      onClick={onClick}
    >
      {words}
    </button>
  );
  const isLive = status === 'OPEN' || status === 'PAUSED';
  return (
    <div class="actions">
      {status === 'DRAFT' && button('Open', () => void step('open'))}
      {status === 'OPEN' && button('Pause', () => void step('pause'))}
      {status === 'PAUSED' && button('Resume', () => void step('resume'))}
      {event && button('Add to the event', () => onDoing({ what: 'add', market }))}
      {button('Edit', () => onDoing({ what: 'edit', market }))}
      {isLive && button('Close', () => onDoing({ what: 'close', market }))}
      {(isLive || status === 'CLOSED') && button('Resolve', () => onDoing({ what: 'resolve', market }))}
      {resolution && Date.parse(resolution.payoutAt) > nowMs() && (
        <>
          {button('Take back', () => void step('unresolve'))}
          <span>paid at {timeWords(resolution.payoutAt)}</span>
        </>
      )}
      <Problem text={action.error} />
    </div>
  );
}

interface WorkProps {
  readonly doing: Doing;
  readonly onDone: () => void;
  readonly onBack: () => void;
}

function Work({ doing, onDone, onBack }: WorkProps) {
  return (
    <>
      <button type="button" class="button button-quiet" onClick={onBack}>
        ← Back to the markets
      </button>
      {doing.what === 'create' && <MarketForm market={null} onDone={onDone} />}
      {doing.what === 'add' && <MarketForm market={null} sibling={doing.market} onDone={onDone} />}
      {doing.what === 'edit' && <MarketForm market={doing.market} onDone={onDone} />}
      {doing.what === 'resolve' && <Resolve market={doing.market} onDone={onDone} />}
      {doing.what === 'close' && <Close market={doing.market} onDone={onDone} />}
    </>
  );
}

function Close({ market, onDone }: { market: Market; onDone: () => void }) {
  const action = useAction();
  const close = async (): Promise<void> => {
    if (await action.run(() => act('POST', `/admin/markets/${market.id}/close`, undefined, market.question)))
      onDone();
  };
  return (
    <section class="panel" aria-labelledby="close">
      <h2 id="close">Close {market.question}</h2>
      <p>
        Trading ends, and every resting order is cancelled. This cannot be undone; the market can then be
        resolved.
      </p>
      <Confirmed word="close" label="Close the market" action={action} onConfirm={() => void close()} />
    </section>
  );
}
