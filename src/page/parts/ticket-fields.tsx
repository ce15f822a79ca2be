import { estimate, type Inputs, type Standing } from '../order-draft';
import { pinPrice, shares, typePrice } from '../ticket-state';
import {
  cents,
  centsField,
  dollars,
  LOTS_ONE,
  lotsOf,
  lotsTyped,
  PIPS_ONE,
  pipsOf,
  pipsTyped,
  shares as sharesText,
  sizeOf,
} from '../units';

interface FieldProps {
  readonly inputs: Inputs;
  readonly standing: Standing | null;
  /** Why the exchange, or the page, did not take it. */
  readonly refused: string | null;
}

/** A hint gives way to a reason in the same place, so that nothing moves. */
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

const Step = ({
  label,
  sign,
  onClick,
}: {
  readonly label: string;
  readonly sign: string;
  onClick(): void;
}) => (
  <button type="button" class="step" aria-label={label} onClick={onClick}>
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
      ? 'The worst price you accept. If empty, a little beyond the book.'
      : `${inputs.side === 'BUY' ? 'Pays at most' : 'Takes at least'} ${cents(limit)} a share.`
    : `In steps of ${cents(tick)}.`;
  return (
    <div class="field">
      <label for="ticket-price">{isMarket ? 'Worst price' : 'Price'}</label>
      <span class="input">
        <Step label="One tick lower" sign="−" onClick={() => move(-1)} />
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
        <Step label="One tick higher" sign="+" onClick={() => move(1)} />
      </span>
      <Below id="ticket-price-hint" refused={refused} hint={hint} />
    </div>
  );
};

/** The free amount is never rounded up. */
const CENT_MICRO = 10_000;
const AMOUNTS = [10, 100] as const;

/** All that the free money buys at this price, or all that is held. */
function mostOf({ side, price, orderType }: Inputs, { free, market, book }: Standing): number | null {
  if (!free) return null;
  const lot = lotsOf(market.lotSize);
  if (side === 'SELL') return Math.floor(free.lots / lot) * lot;
  const best = book?.asks[0]?.price;
  const pips = pipsTyped(price) ?? (orderType === 'MARKET' && best ? pipsOf(best) : null);
  return pips === null || pips === 0 ? null : Math.floor(free.cashMicro / pips / lot) * lot;
}

export const SharesField = ({
  inputs,
  standing,
  refused,
  isSignedIn,
}: FieldProps & { readonly isSignedIn: boolean }) => {
  const write = (text: string): void => {
    pinPrice(inputs.orderType === 'MARKET' ? '' : inputs.price);
    shares.set(text);
  };
  const most = standing && mostOf(inputs, standing);
  const free = standing?.free;
  const has = !free
    ? ''
    : inputs.side === 'BUY'
      ? `${dollars(Math.floor(free.cashMicro / CENT_MICRO) * CENT_MICRO)} free.`
      : `You have ${sharesText(free.lots)} free.`;
  const least =
    standing && lotsOf(standing.market.minOrderSize) > 1 ? `At least ${standing.market.minOrderSize}. ` : '';
  return (
    <div class="field">
      <label for="ticket-shares">Shares</label>
      <span class="input">
        <input
          id="ticket-shares"
          type="text"
          inputMode="decimal"
          value={inputs.shares}
          placeholder="0"
          aria-describedby="ticket-shares-hint"
          aria-invalid={refused !== null}
          onInput={({ currentTarget }) => write(currentTarget.value)}
        />
        {AMOUNTS.map((amount) => (
          <button
            key={amount}
            type="button"
            class="step step-wide"
            onClick={() => write(sizeOf((lotsTyped(inputs.shares) ?? 0) + amount * LOTS_ONE))}
          >
            +{amount}
          </button>
        ))}
        <button
          type="button"
          class="step step-wide"
          disabled={!isSignedIn || !most}
          onClick={() => most && write(sizeOf(most))}
        >
          Max
        </button>
      </span>
      <Below id="ticket-shares-hint" refused={refused} hint={`${least}${has}`} />
    </div>
  );
};
