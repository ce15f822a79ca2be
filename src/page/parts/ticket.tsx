import { type Balances, type OutcomeIndex, viewOf } from 'ctf-exchange-client';
import { useEffect, useState } from 'preact/hooks';
import { useAccount, useWallet } from '../account-data';
import { useCell } from '../cell';
import type { Shown } from '../market-data';
import { facing, freeOf, type Inputs, type Standing } from '../order-draft';
import { place, type Said } from '../place-order';
import { orderType, outcome, price, shares, side, unpinPrice } from '../ticket-state';
import { centsField } from '../units';
import type { Refused } from '../words';
import { statusWord } from './market-list';
import { Choice, Outcomes, SIDES, TypeField } from './ticket-choices';
import { PriceField, SharesField } from './ticket-fields';
import { Summary } from './ticket-summary';

/** The typed values, and for an untouched price the book's suggestion. */
function useInputs(shown: Shown | null): Inputs {
  const [s, o, t, p, n] = [
    useCell(side),
    useCell(outcome),
    useCell(orderType),
    useCell(price),
    useCell(shares),
  ];
  const book = shown?.book ? viewOf(shown.book, o) : null;
  const best = facing(book, s)[0] ?? facing(book, s === 'BUY' ? 'SELL' : 'BUY')[0];
  const suggested = t === 'MARKET' || !best ? '' : centsField(best.pips);
  return { side: s, outcome: o, orderType: t, price: p?.text ?? suggested, shares: n };
}

const standingOf = (shown: Shown, index: OutcomeIndex, balances: Balances | null): Standing => ({
  market: shown.market,
  book: shown.book && viewOf(shown.book, index),
  free: freeOf(balances, shown.market.id, index),
});

/** Placing what the ticket says, and what became of it until the next change. */
function useOrder(inputs: Inputs, shown: Shown | null, standing: Standing | null) {
  const wallet = useWallet();
  const [said, setSaid] = useState<Said | null>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    const forget = (): void => setSaid(null);
    const ends = [side, outcome, orderType, price, shares].map((part) => part.subscribe(forget));
    return () => {
      for (const end of ends) end();
    };
  }, []);
  const submit = async (): Promise<void> => {
    if (isBusy || !shown || !standing) return;
    setBusy(true);
    setSaid(null);
    const answer = await place(inputs, shown, standing, wallet);
    if (answer.tone === 'done') unpinPrice();
    setSaid(answer);
    setBusy(false);
  };
  return { said, isBusy, submit, isSignedIn: wallet !== null };
}

export const Ticket = ({ shown }: { readonly shown: Shown | null }) => {
  const inputs = useInputs(shown);
  const { balances } = useAccount();
  const standing = shown && standingOf(shown, inputs.outcome, balances);
  const { said, isBusy, submit, isSignedIn } = useOrder(inputs, shown, standing);
  const status = shown ? statusWord(shown.market) : null;
  const refusedAt = (field: Refused['field']): string | null =>
    said?.tone === 'refused' && said.field === field ? said.text : null;

  return (
    <form
      id="ticket"
      class="card ticket"
      data-testid="ticket"
      aria-label="Order ticket"
      noValidate
      autocomplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Choice of={side} options={SIDES} label="Side" variant="sides" />
      <Outcomes shown={shown} side={inputs.side} />
      <TypeField value={inputs.orderType} />
      <PriceField inputs={inputs} standing={standing} refused={refusedAt('price')} />
      <SharesField
        inputs={inputs}
        standing={standing}
        refused={refusedAt('shares')}
        isSignedIn={isSignedIn}
      />
      <Summary inputs={inputs} standing={standing} />
      {status !== null && <p class="hint">This market takes no orders: {status.toLowerCase()}.</p>}
      <button type="submit" class={`button button-wide button-${inputs.side === 'BUY' ? 'primary' : 'sell'}`}>
        {isBusy ? 'Placing…' : isSignedIn ? 'Place order' : 'Sign in to trade'}
      </button>
      <div class="ticket-said">
        {said?.field === 'form' ? (
          <p class={said.tone} role={said.tone === 'refused' ? 'alert' : 'status'}>
            {said.text}
          </p>
        ) : (
          <p class="hint">You sign the order with your wallet. All funds here are for testing.</p>
        )}
      </div>
    </form>
  );
};
