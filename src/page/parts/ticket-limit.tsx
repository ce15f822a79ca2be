import { useCell } from '../cell';
import { estimate } from '../order-draft';
import { type Expiry, expiry, expiryDate, typePrice } from '../ticket-state';
import { cents, centsField, PIPS_ONE, pipsOf, pipsTyped } from '../units';
import { Below, type FieldProps } from './ticket-fields';

/** The fields of an order with a price, which the first view does not show. */

/** No stop of the Tab key: the arrow keys of the field do the same, and Tab leads on to the next field. */
const Step = ({
  label,
  sign,
  onClick,
}: {
  readonly label: string;
  readonly sign: string;
  onClick(): void;
}) => (
  <button type="button" class="step" tabIndex={-1} aria-label={label} onClick={onClick}>
    {sign}
  </button>
);

export const PriceField = ({ inputs, standing, refused }: FieldProps) => {
  const tick = standing ? pipsOf(standing.market.tickSize) : 100;
  const isMarket = inputs.orderType === 'MARKET';
  const move = (ticks: number): void => {
    const now = pipsTyped(inputs.price) ?? PIPS_ONE / 2;
    const aligned = Math.round(now / tick) * tick + ticks * tick;
    typePrice(centsField(Math.min(PIPS_ONE - tick, Math.max(tick, aligned))));
  };
  const limit = isMarket && standing ? estimate(inputs, standing)?.limitPips : undefined;
  const hint = isMarket
    ? limit === undefined
      ? 'If empty, a little beyond the book.'
      : `${inputs.side === 'BUY' ? 'Pays at most' : 'Takes at least'} ${cents(limit)} a share.`
    : `In steps of ${cents(tick)}.`;
  return (
    <div class={isMarket ? 'field field-second' : 'field'}>
      <label for="ticket-price">{isMarket ? 'Worst price' : 'Price'}</label>
      <span class="input">
        {!isMarket && <Step label="One tick lower" sign="−" onClick={() => move(-1)} />}
        <input
          id="ticket-price"
          type="text"
          inputMode="decimal"
          value={inputs.price}
          placeholder={isMarket ? 'Any' : '0'}
          aria-describedby="ticket-price-hint"
          aria-invalid={refused !== null}
          onInput={({ currentTarget }) => typePrice(currentTarget.value)}
        />
        <span class="unit" aria-hidden="true">
          ¢
        </span>
        {!isMarket && <Step label="One tick higher" sign="+" onClick={() => move(1)} />}
      </span>
      <Below id="ticket-price-hint" refused={refused} hint={hint} />
    </div>
  );
};

const EXPIRIES: readonly (readonly [Expiry, string])[] = [
  ['month', 'In 30 days'],
  ['hour', 'In an hour'],
  ['day', 'In a day'],
  ['date', 'At a date…'],
  ['never', 'Never'],
];

/** The expiration of the rest that stays in the book. */
export const ExpiryField = () => {
  const now = useCell(expiry);
  const date = useCell(expiryDate);
  return (
    <div class="field field-row">
      <label for="ticket-expiry">Expires</label>
      <select
        id="ticket-expiry"
        value={now}
        onChange={({ currentTarget }) => expiry.set(currentTarget.value as Expiry)}
      >
        {EXPIRIES.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
      {now === 'date' && (
        <input
          type="datetime-local"
          class="date"
          aria-label="Expires at"
          value={date}
          onInput={({ currentTarget }) => expiryDate.set(currentTarget.value)}
        />
      )}
    </div>
  );
};
