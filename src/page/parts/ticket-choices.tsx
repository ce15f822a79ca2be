import { type OrderType, type OutcomeIndex, viewOf } from 'ctf-exchange-client';
import type { ComponentChildren } from 'preact';
import { type Cell, useCell } from '../cell';
import type { Shown } from '../market-data';
import { facing } from '../order-draft';
import { orderType, outcome } from '../ticket-state';
import { cents } from '../units';

/** The order types in words, in the order of the list: first the two usual ones, then those for traders. */
const TYPES: Readonly<Record<OrderType, { readonly name: string; readonly hint: string }>> = {
  MARKET: { name: 'Market', hint: 'Trades at once, a little beyond the best price at most. Nothing waits.' },
  GTC: { name: 'Limit', hint: 'Fills what it can at your price or better; the rest waits in the book.' },
  POST_ONLY: { name: 'Post only', hint: 'Waits in the book. It is refused if it would trade at once.' },
  IOC: { name: 'Immediate or cancel', hint: 'Fills what it can at once; the rest is cancelled.' },
  FOK: { name: 'Fill or kill', hint: 'Fills completely and at once, or not at all.' },
};
const USUAL: readonly OrderType[] = ['MARKET', 'GTC'];
const MORE: readonly OrderType[] = ['POST_ONLY', 'IOC', 'FOK'];

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
    onClick={() => of.set(value)}
  >
    {children}
  </button>
);

/** A choice among a few buttons, each of which shows whether it is pressed. */
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
  readonly names: readonly [string, string];
}

/** The outcomes with their present prices. */
export const Outcomes = ({ shown, side, names }: OutcomesProps) => (
  <fieldset class="choice outcomes" aria-label="Outcome">
    {names.map((name, at) => {
      const index = at as OutcomeIndex;
      const best = facing(shown?.book ? viewOf(shown.book, index) : null, side)[0];
      return (
        <ChoiceButton key={index} of={outcome} value={index} name={index === 0 ? 'yes' : 'no'}>
          <span class="choice-name">{name}</span>{' '}
          <span class="choice-price">{best ? cents(best.pips) : '–'}</span>
        </ChoiceButton>
      );
    })}
  </fieldset>
);

const options = (types: readonly OrderType[]) =>
  types.map((type) => (
    <option key={type} value={type}>
      {TYPES[type].name}
    </option>
  ));

export const TypeField = ({ value }: { readonly value: OrderType }) => (
  <div class="field field-type">
    <label for="ticket-type" class="hidden">
      Type
    </label>
    <select
      id="ticket-type"
      title={TYPES[value].hint}
      value={value}
      onChange={({ currentTarget }) => orderType.set(currentTarget.value as OrderType)}
    >
      {options(USUAL)}
      <optgroup label="More">{options(MORE)}</optgroup>
    </select>
  </div>
);
