import { useCell } from '../cell';
import { estimate, type Inputs, type Standing } from '../order-draft';
import { type Expiry, expiry, expiryDate, typeAmount, typePrice, typeShares } from '../ticket-state';
import {
  cents,
  centsField,
  dollars,
  dollarsTyped,
  LOTS_ONE,
  lotsOf,
  lotsTyped,
  MICRO_ONE,
  PIPS_ONE,
  pipsOf,
  pipsTyped,
  shares as sharesText,
  sizeOf,
  wholeCents,
} from '../units';

interface FieldProps {
  readonly inputs: Inputs;
  readonly standing: Standing | null;
  /** The reason why the exchange, or the page, refused it. */
  readonly refused: string | null;
  readonly isSignedIn: boolean;
}

/** A reason replaces the hint in the same place, so that nothing moves. */
const Below = ({
  id,
  refused,
  hint,
}: {
  readonly id: string;
  readonly refused: string | null;
  readonly hint: string;
}) =>
  refused === null ? (
    <p class="hint" id={id}>
      {hint}
    </p>
  ) : (
    <p class="hint refused" id={id} role="alert">
      {refused}
    </p>
  );

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

interface FillerProps {
  readonly name: string;
  readonly disabled?: boolean;
  onClick(): void;
}

/** A button at the end of a field that fills the field in. */
const Filler = ({ name, disabled = false, onClick }: FillerProps) => (
  <button type="button" class="step step-wide" disabled={disabled} onClick={onClick}>
    {name}
  </button>
);

const DOLLARS = [10, 50] as const;

/** The amount that an order may spend. */
export const AmountField = ({ inputs, standing, refused, isSignedIn }: FieldProps) => {
  const now = dollarsTyped(inputs.amount ?? '') ?? 0;
  const write = (micro: number): void => typeAmount((micro / MICRO_ONE).toFixed(2).replace(/\.00$/, ''));
  const cashMicro = standing?.free?.cashMicro ?? null;
  const found = standing && inputs.shares !== '' ? estimate(inputs, standing) : null;
  return (
    <div class="field">
      <label for="ticket-amount">Amount</label>
      <span class="input">
        <span class="unit unit-before" aria-hidden="true">
          $
        </span>
        <input
          id="ticket-amount"
          type="text"
          inputMode="decimal"
          value={inputs.amount}
          placeholder={found ? (found.preview.costMicro / MICRO_ONE).toFixed(2) : '0'}
          aria-describedby="ticket-amount-hint"
          aria-invalid={refused !== null}
          onInput={({ currentTarget }) => typeAmount(currentTarget.value)}
        />
        {DOLLARS.map((more) => (
          <Filler key={more} name={`+$${more}`} onClick={() => write(now + more * MICRO_ONE)} />
        ))}
        <Filler
          name="Max"
          disabled={!isSignedIn || !cashMicro}
          onClick={() => write(wholeCents(cashMicro ?? 0))}
        />
      </span>
      <Below
        id="ticket-amount-hint"
        refused={refused}
        hint={cashMicro === null ? 'What you spend at most.' : `${dollars(wholeCents(cashMicro))} free.`}
      />
    </div>
  );
};

const AMOUNTS = [10, 100] as const;

/** The most that the free money buys at this price, or all held shares. */
function mostOf({ side, price, orderType }: Inputs, { free, market, book }: Standing): number | null {
  if (!free) return null;
  const lot = lotsOf(market.lotSize);
  if (side === 'SELL') return Math.floor(free.lots / lot) * lot;
  const best = book?.asks[0]?.price;
  const pips = pipsTyped(price) ?? (orderType === 'MARKET' && best ? pipsOf(best) : null);
  return pips === null || pips === 0 ? null : Math.floor(free.cashMicro / pips / lot) * lot;
}

export const SharesField = ({ inputs, standing, refused, isSignedIn }: FieldProps) => {
  const most = standing && mostOf(inputs, standing);
  const free = standing?.free;
  const isBudget = inputs.side === 'BUY' && inputs.orderType === 'MARKET';
  const has =
    !free || isBudget
      ? ''
      : inputs.side === 'BUY'
        ? `${dollars(wholeCents(free.cashMicro))} free.`
        : `You have ${sharesText(free.lots)} free.`;
  const least =
    standing && lotsOf(standing.market.minOrderSize) > 1 ? `At least ${standing.market.minOrderSize}. ` : '';
  const found = standing && inputs.amount !== '' ? estimate(inputs, standing) : null;
  return (
    <div class={isBudget ? 'field field-second' : 'field'}>
      <label for="ticket-shares">Shares</label>
      <span class="input">
        <input
          id="ticket-shares"
          type="text"
          inputMode="decimal"
          value={inputs.shares}
          placeholder={found ? `about ${sharesText(found.lots)}` : '0'}
          aria-describedby="ticket-shares-hint"
          aria-invalid={refused !== null}
          onInput={({ currentTarget }) => typeShares(currentTarget.value)}
        />
        {!isBudget &&
          AMOUNTS.map((more) => (
            <Filler
              key={more}
              name={`+${more}`}
              onClick={() => typeShares(sizeOf((lotsTyped(inputs.shares) ?? 0) + more * LOTS_ONE))}
            />
          ))}
        {!isBudget && (
          <Filler
            name="Max"
            disabled={!isSignedIn || !most}
            onClick={() => most && typeShares(sizeOf(most))}
          />
        )}
      </span>
      <Below id="ticket-shares-hint" refused={refused} hint={`${least}${has}`} />
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
