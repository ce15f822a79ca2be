import { useState } from 'preact/hooks';
import { type Balances, type OutcomeIndex, type Submission, viewOf } from '../../client/index';
import { reloadAccount, showOrder, useAccount, useWallet } from '../account-data';
import { type Cell, useCell } from '../cell';
import { client, type Wallet } from '../exchange';
import { connection, type Shown } from '../market-data';
import { facing, freeOf, type Inputs, judge, type Standing } from '../order-draft';
import type { OrderType } from '../preview';
import { signerOf } from '../sign-in';
import { orderType, outcome, price, shares, side, unpinPrice } from '../ticket-state';
import { cents, centsField, centsOf, lotsOf, shares as sharesText } from '../units';
import { type Refused, wordsFor } from '../words';
import { statusWord } from './market-list';
import { PriceField, SharesField } from './ticket-fields';
import { Summary } from './ticket-summary';

/** Names of the types in words; the values are those of the interface. */
const TYPES: readonly (readonly [OrderType, string, string])[] = [
  [
    'GTC',
    'Limit: good till cancelled',
    'Trades what it can at your price or better; the rest waits in the book.',
  ],
  [
    'MARKET',
    'Market: at once',
    'Trades at once at the best prices there are; what cannot be had is dropped.',
  ],
  ['POST_ONLY', 'Post only: never takes', 'Waits in the book. Refused if it would trade at once.'],
  ['IOC', 'Immediate or cancel', 'Trades what it can at your price or better; the rest is cancelled.'],
  ['FOK', 'Fill or kill', 'Trades all of it at once at your price or better, or nothing.'],
];

export const NAMES = ['Yes', 'No'] as const;

interface Said {
  readonly tone: 'done' | 'refused';
  readonly field: Refused['field'];
  readonly text: string;
}

/** What is typed, and for an untouched price what the book suggests. */
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

export const Ticket = ({ shown }: { readonly shown: Shown | null }) => {
  const inputs = useInputs(shown);
  const { balances } = useAccount();
  const wallet = useWallet();
  const [said, setSaid] = useState<Said | null>(null);
  const [isBusy, setBusy] = useState(false);
  const standing = shown && standingOf(shown, inputs.outcome, balances);
  const status = shown ? statusWord(shown.market) : null;

  const submit = async (): Promise<void> => {
    if (isBusy || !shown || !standing) return;
    setBusy(true);
    setSaid(null);
    setSaid(await place(inputs, shown, standing, wallet));
    setBusy(false);
  };
  const refusedAt = (field: Refused['field']): string | null =>
    said?.tone === 'refused' && said.field === field ? said.text : null;
  const forget = (): void => setSaid(null);

  return (
    <form
      id="ticket"
      class="card ticket"
      data-testid="ticket"
      aria-label="Order ticket"
      noValidate
      autocomplete="off"
      onInput={forget}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Choice of={side} options={SIDES} label="Side" variant="sides" onChange={forget} />
      <Outcomes shown={shown} side={inputs.side} onChange={forget} />
      <TypeField value={inputs.orderType} />
      <PriceField inputs={inputs} standing={standing} refused={refusedAt('price')} />
      <SharesField
        inputs={inputs}
        standing={standing}
        refused={refusedAt('shares')}
        isSignedIn={wallet !== null}
      />
      <Summary inputs={inputs} standing={standing} />
      {status !== null && <p class="hint">This market takes no orders: {status.toLowerCase()}.</p>}
      <button type="submit" class={`button button-wide button-${inputs.side === 'BUY' ? 'primary' : 'sell'}`}>
        {isBusy ? 'Placing…' : wallet ? 'Place order' : 'Sign in to trade'}
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

const refusal = (refused: Refused): Said => ({ tone: 'refused', ...refused });

/** Judged, signed and sent; the answer in words. */
async function place(inputs: Inputs, shown: Shown, standing: Standing, wallet: Wallet | null): Promise<Said> {
  const isLive = connection.get() === 'live';
  if (!isLive && inputs.orderType === 'MARKET') {
    const text =
      'The book may be old until the connection is back, so a market order has to wait. A limit order works.';
    return refusal({ field: 'form', text });
  }
  // A book that may be old is no ground to refuse anything else.
  const judged = judge(inputs, isLive ? standing : { ...standing, book: null, free: null });
  if ('refused' in judged) return refusal(judged.refused);
  if (!wallet) {
    const text = 'Sign in first, above: connect your wallet, or take a test wallet. It takes one click.';
    return refusal({ field: 'form', text });
  }
  const { tickSize, lotSize, minOrderSize } = shown.market;
  try {
    const signer = await signerOf(wallet);
    const placed = await client.placeOrder(signer, shown.trading ?? shown.market.id, judged.order);
    client.order(placed.orderHash).then(showOrder, () => undefined);
    reloadAccount();
    return { tone: 'done', field: 'form', text: happened(inputs, placed) };
  } catch (error) {
    const words = { side: inputs.side, outcome: NAMES[inputs.outcome], tick: tickSize, lot: lotSize };
    return refusal(wordsFor(error, { ...words, least: minOrderSize }));
  }
}

/** What became of an order, in a sentence. */
function happened(inputs: Inputs, placed: Submission): string {
  const { status, filledSize, remainingSize, averagePrice, price: limit } = placed;
  const did = inputs.side === 'BUY' ? 'Bought' : 'Sold';
  const name = NAMES[inputs.outcome];
  const amount = (size: string): string => sharesText(lotsOf(size));
  const filled =
    averagePrice === null ? null : `${did} ${amount(filledSize)} ${name} at ${centsOf(averagePrice)}`;
  const isResting = status === 'OPEN' || status === 'PARTIALLY_FILLED';
  if (isResting) {
    const rest = `${amount(remainingSize)} at ${centsOf(limit)} ${filled ? 'wait' : 'now wait'} in the book`;
    return filled ? `${filled}; ${rest}.` : `Order placed: ${rest}.`;
  }
  if (filled === null) return 'Nothing could be had within your price, so nothing was done.';
  return status === 'FILLED' ? `${filled}.` : `${filled}; the rest could not be had.`;
}

interface ChoiceProps<T extends string | number> {
  readonly of: Cell<T>;
  readonly options: readonly (readonly [T, string])[];
  readonly label: string;
  readonly variant: string;
  onChange(): void;
}

const SIDES = [
  ['BUY', 'Buy'],
  ['SELL', 'Sell'],
] as const;

/** One of a few, each a button that says whether it is pressed. */
const Choice = <T extends string | number>({ of, options, label, variant, onChange }: ChoiceProps<T>) => {
  const chosen = useCell(of);
  return (
    <fieldset class={`choice ${variant}`} aria-label={label}>
      {options.map(([value, name]) => (
        <button
          key={value}
          type="button"
          class={`choice-${String(value).toLowerCase()}`}
          aria-pressed={chosen === value}
          onClick={() => {
            unpinPrice();
            of.set(value);
            onChange();
          }}
        >
          {name}
        </button>
      ))}
    </fieldset>
  );
};

/** The outcomes with the price to be had for each. */
const Outcomes = ({
  shown,
  side: chosenSide,
  onChange,
}: {
  readonly shown: Shown | null;
  readonly side: 'BUY' | 'SELL';
  onChange(): void;
}) => {
  const chosen = useCell(outcome);
  return (
    <fieldset class="choice outcomes" aria-label="Outcome">
      {NAMES.map((name, at) => {
        const index = at as OutcomeIndex;
        const best = facing(shown?.book ? viewOf(shown.book, index) : null, chosenSide)[0];
        return (
          <button
            key={name}
            type="button"
            class={`choice-${name.toLowerCase()}`}
            aria-pressed={chosen === index}
            onClick={() => {
              unpinPrice();
              outcome.set(index);
              onChange();
            }}
          >
            {name} <span class="choice-price">{best ? cents(best.pips) : '–'}</span>
          </button>
        );
      })}
    </fieldset>
  );
};

const TypeField = ({ value }: { readonly value: OrderType }) => (
  <div class="field">
    <label for="ticket-type">Type</label>
    <select
      id="ticket-type"
      aria-describedby="ticket-type-hint"
      value={value}
      onChange={({ currentTarget }) => {
        unpinPrice();
        orderType.set(currentTarget.value as OrderType);
      }}
    >
      {TYPES.map(([type, name]) => (
        <option key={type} value={type}>
          {name}
        </option>
      ))}
    </select>
    <p class="hint" id="ticket-type-hint">
      {TYPES.find(([type]) => type === value)?.[2]}
    </p>
  </div>
);
