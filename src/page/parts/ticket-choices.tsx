import { type OrderType, type OutcomeIndex, viewOf } from 'ctf-exchange-client';
import type { ComponentChildren } from 'preact';
import { type Cell, useCell } from '../cell';
import type { Shown } from '../market-data';
import { facing } from '../order-draft';
import { orderType, outcome, unpinPrice } from '../ticket-state';
import { cents } from '../units';

/** The types in words, in the order of the list. */
const TYPES: Readonly<Record<OrderType, { readonly name: string; readonly hint: string }>> = {
  GTC: {
    name: 'Limit: good till cancelled',
    hint: 'Fills what it can at your price or better; the rest waits in the book.',
  },
  MARKET: {
    name: 'Market: at once',
    hint: 'Trades at once for what the shares cost now. A better price buys a little more.',
  },
  POST_ONLY: {
    name: 'Post only: never takes',
    hint: 'Waits in the book. It is refused if it would trade at once.',
  },
  IOC: {
    name: 'Immediate or cancel',
    hint: 'Fills what it can at your price or better; the rest is cancelled.',
  },
  FOK: {
    name: 'Fill or kill',
    hint: 'Fills completely and at once at your price or better, or not at all.',
  },
};

export const NAMES = ['Yes', 'No'] as const;

interface ChoiceProps<T extends string | number> {
  readonly of: Cell<T>;
  readonly options: readonly (readonly [T, string])[];
  readonly label: string;
  readonly variant: string;
}

export const SIDES = [
  ['BUY', 'Buy'],
  ['SELL', 'Sell'],
] as const;

interface ChoiceButtonProps<T extends string | number> {
  readonly of: Cell<T>;
  readonly value: T;
  readonly name: string;
  readonly children: ComponentChildren;
}

const ChoiceButton = <T extends string | number>({ of, value, name, children }: ChoiceButtonProps<T>) => (
  <button
    type="button"
    class={`choice-${name.toLowerCase()}`}
    aria-pressed={useCell(of) === value}
    onClick={() => {
      unpinPrice();
      of.set(value);
    }}
  >
    {children}
  </button>
);

/** One of a few, each a button that says whether it is pressed. */
export const Choice = <T extends string | number>({ of, options, label, variant }: ChoiceProps<T>) => (
  <fieldset class={`choice ${variant}`} aria-label={label}>
    {options.map(([value, name]) => (
      <ChoiceButton key={value} of={of} value={value} name={String(value)}>
        {name}
      </ChoiceButton>
    ))}
  </fieldset>
);

interface OutcomesProps {
  readonly shown: Shown | null;
  readonly side: 'BUY' | 'SELL';
}

/** The outcomes with the price to be had for each. */
export const Outcomes = ({ shown, side }: OutcomesProps) => (
  <fieldset class="choice outcomes" aria-label="Outcome">
    {NAMES.map((name, at) => {
      const index = at as OutcomeIndex;
      const best = facing(shown?.book ? viewOf(shown.book, index) : null, side)[0];
      return (
        <ChoiceButton key={name} of={outcome} value={index} name={name}>
          {name} <span class="choice-price">{best ? cents(best.pips) : '–'}</span>
        </ChoiceButton>
      );
    })}
  </fieldset>
);

export const TypeField = ({ value }: { readonly value: OrderType }) => (
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
      {Object.entries(TYPES).map(([type, { name }]) => (
        <option key={type} value={type}>
          {name}
        </option>
      ))}
    </select>
    <p class="hint" id="ticket-type-hint">
      {TYPES[value].hint}
    </p>
  </div>
);
