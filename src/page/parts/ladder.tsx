import { viewOf } from 'ctf-exchange-client';
import type { TargetedKeyboardEvent } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { reloadAccount, useAccount } from '../account-data';
import { useCell } from '../cell';
import { client } from '../exchange';
import { lazy } from '../lazy';
import type { Shown } from '../market-data';
import { levelsOf } from '../order-draft';
import { nameOf } from '../outcome-names';
import { outcome, takeLevel } from '../ticket-state';
import { tell } from '../toasts';
import { cents, centsField, pipsOf, priceOf, roughShares, roundly, sizeOf } from '../units';
import { wordsFor } from '../words';
import { grouped, type Own, ownOn, type Row, rowsOf } from './book-rows';
import { Notice, Skeleton } from './notice';

async function cancelOwn({ hashes }: Own): Promise<void> {
  try {
    await client.cancelMany(hashes);
  } catch (error) {
    tell(wordsFor(error).text, 'bad');
  }
  reloadAccount();
}

const GROUPS = [0, 100, 200, 500] as const;

interface GroupingProps {
  readonly step: number;
  readonly tick: number;
  onChoose(step: number): void;
}

const Grouping = ({ step, tick, onChoose }: GroupingProps) => (
  <select
    class="grouping"
    aria-label="Grouping"
    value={String(step)}
    onChange={({ currentTarget }) => onChoose(Number(currentTarget.value))}
  >
    {GROUPS.filter((one) => one === 0 || one > tick).map((one) => (
      <option key={one} value={String(one)}>
        {cents(one === 0 ? tick : one)}
      </option>
    ))}
  </select>
);

const Depth = lazy(async () => (await import('./later')).LATER.Depth);

/** The order book of the traded outcome: sellers above, buyers below, the best of both in the middle. */
export const Ladder = ({ shown }: { readonly shown: Shown | null }) => {
  const index = useCell(outcome);
  const { orders } = useAccount();
  const name = nameOf(shown?.market, index);
  const book = shown?.book ?? null;
  const view = book && viewOf(book, index);
  const mineOn = (side: 'BUY' | 'SELL') => ownOn(orders ?? [], shown?.market.id ?? '', side, index);
  const [step, setStep] = useState(0);
  const [isDepth, setDepth] = useState(false);
  const bids = rowsOf(grouped(levelsOf(view?.bids ?? []), step, 'bid'), mineOn('BUY'));
  const asks = rowsOf(grouped(levelsOf(view?.asks ?? []), step, 'ask'), mineOn('SELL'));
  const isEmpty = view !== null && bids.length + asks.length === 0;
  const isTrading = shown?.market.status === 'OPEN';
  const deepest = Math.max(bids.at(-1)?.depthLots ?? 0, asks.at(-1)?.depthLots ?? 0, 1);
  return (
    <section class="card ladder" aria-labelledby="ladder-title">
      <h2 id="ladder-title" class="card-title">
        Order book <span class={`outcome outcome-${index}`}>{name}</span>
      </h2>
      <button
        type="button"
        class="chip ladder-depth"
        aria-pressed={isDepth}
        onClick={() => setDepth(!isDepth)}
      >
        Depth
      </button>
      <Grouping step={step} tick={pipsOf(shown?.market.tickSize ?? '0.01')} onChoose={setStep} />
      {!isDepth && !isEmpty && (
        <div class="ladder-head" aria-hidden="true">
          <span>Price</span>
          <span>Shares</span>
          <span>Total</span>
        </div>
      )}
      <div
        class={isEmpty ? 'ladder-book panel-empty' : 'ladder-book'}
        data-testid="book"
        data-sequence={book?.sequence}
      >
        {isEmpty ? (
          <Notice title="The book is empty">
            {isTrading ? 'Be the first: place a limit order.' : 'This market takes no orders.'}
          </Notice>
        ) : view && isDepth ? (
          <Depth bids={bids} asks={asks} name={name} />
        ) : view ? (
          <>
            <Side side="ask" rows={asks} deepest={deepest} label={`Offers of ${name}`} isOpen={isTrading} />
            <Middle bid={bids[0]} ask={asks[0]} />
            <Side side="bid" rows={bids} deepest={deepest} label={`Bids for ${name}`} isOpen={isTrading} />
          </>
        ) : (
          <Skeleton rows={14} />
        )}
      </div>
    </section>
  );
};

const Middle = ({ bid, ask }: { readonly bid: Row | undefined; readonly ask: Row | undefined }) => (
  <div class="ladder-middle">
    {bid && ask ? (
      <>
        <span>
          Mid <strong>{cents((bid.pips + ask.pips) / 2)}</strong>
        </span>
        <span>Spread {cents(ask.pips - bid.pips)}</span>
      </>
    ) : (
      <span>{bid || ask ? 'One side is empty' : 'The book is empty'}</span>
    )}
  </div>
);

interface SideProps {
  readonly side: 'bid' | 'ask';
  readonly rows: readonly Row[];
  readonly deepest: number;
  readonly label: string;
  readonly isOpen: boolean;
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** One tab stop; arrow keys go from level to level. Offers, too, are in best-first order, and displayed reversed. */
const Side = ({ side, rows, deepest, label, isOpen }: SideProps) => {
  const list = useRef<HTMLUListElement>(null);
  const move = (event: TargetedKeyboardEvent<HTMLUListElement>): void => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    const buttons = [...(list.current?.querySelectorAll<HTMLButtonElement>('.level') ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    buttons[at + (side === 'ask' ? -step : step)]?.focus();
    event.preventDefault();
  };
  if (rows.length === 0) {
    return (
      <div class={`ladder-side ladder-${side}s`}>
        {isOpen ? (
          <Notice title={side === 'ask' ? 'No offers yet' : 'No bids yet'}>
            Be the first: place a limit order.
          </Notice>
        ) : (
          <Notice title={side === 'ask' ? 'No offers' : 'No bids'}>This market takes no orders.</Notice>
        )}
      </div>
    );
  }
  return (
    <ul ref={list} class={`ladder-side ladder-${side}s`} aria-label={label} onKeyDown={move}>
      {rows.map((row, index) => (
        <LevelRow key={row.pips} side={side} row={row} deepest={deepest} isStop={index === 0} />
      ))}
    </ul>
  );
};

interface LevelProps {
  readonly side: 'bid' | 'ask';
  readonly row: Row;
  readonly deepest: number;
  readonly isStop: boolean;
}

const LevelRow = ({ side, row, deepest, isStop }: LevelProps) => (
  <li data-testid="level" data-side={side} data-price={priceOf(row.pips)} data-size={sizeOf(row.lots)}>
    <button
      type="button"
      class={`level level-${side}`}
      tabIndex={isStop ? 0 : -1}
      title="Take this price into the ticket; with Shift the shares, too"
      onClick={({ shiftKey }) => takeLevel(centsField(row.pips), shiftKey ? sizeOf(row.lots) : null)}
    >
      <span
        class="level-bar"
        style={{ transform: `scaleX(${row.depthLots / deepest})` }}
        aria-hidden="true"
      />
      <span class="level-price">
        {cents(row.pips)}
        <span class="hidden"> a share, </span>
        {row.own && (
          <span class="level-mine">
            <span class="hidden">of yours </span>
            {roughShares(row.own.lots)}
          </span>
        )}
      </span>
      {/* A new element for each size, so that the change is visible. */}
      <span key={row.lots} class="level-size">
        {roughShares(row.lots)}
        <span class="hidden"> shares, </span>
      </span>
      <span class="level-total">
        {roundly(row.depthMicro)}
        <span class="hidden"> up to here</span>
      </span>
    </button>
    {row.own && (
      <button
        type="button"
        class="level-cancel"
        tabIndex={-1}
        aria-label={`Take back my ${roughShares(row.own.lots)} at ${cents(row.pips)}`}
        onClick={() => row.own && void cancelOwn(row.own)}
      >
        ×
      </button>
    )}
  </li>
);
