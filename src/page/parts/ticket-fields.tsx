import { estimate, type Inputs, type Standing } from '../order-draft';
import { typeAmount, typeShares } from '../ticket-state';
import {
  dollars,
  dollarsTyped,
  LOTS_ONE,
  lotsOf,
  lotsTyped,
  MICRO_ONE,
  pipsOf,
  pipsTyped,
  shares as sharesText,
  sizeOf,
  wholeCents,
} from '../units';

export interface FieldProps {
  readonly inputs: Inputs;
  readonly standing: Standing | null;
  /** The reason why the exchange, or the page, refused it. */
  readonly refused: string | null;
  readonly isSignedIn: boolean;
}

/** A reason replaces the hint in the same place, so that nothing moves. */
export const Below = ({
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
