import { type OutcomeIndex, viewOf } from 'ctf-exchange-client';
import { useCell } from '../cell';
import { exchangeState, whyNoOrders } from '../exchange-state';
import type { Shown } from '../market-data';
import { isNarrow } from '../narrow';
import { facing } from '../order-draft';
import { nameOf } from '../outcome-names';
import { inPage, openSheet } from '../route';
import { outcome, side } from '../ticket-state';
import { shortCents } from '../units';

const INDEXES: readonly OutcomeIndex[] = [0, 1];

/** On a phone, always visible: both outcomes with their prices, which open the ticket as a sheet, and the views. */
export const TradeBar = ({ shown }: { readonly shown: Shown | null }) => {
  const mode = useCell(exchangeState)?.mode;
  if (!useCell(isNarrow)) return null;
  const isTrading = shown !== null && whyNoOrders(shown.market, mode) === null;
  const open = (index: OutcomeIndex): void => {
    side.set('BUY');
    outcome.set(index);
    openSheet();
  };
  const best = (index: OutcomeIndex) => facing(shown?.book ? viewOf(shown.book, index) : null, 'BUY')[0];
  return (
    <nav class="trade-bar" aria-label="On this phone">
      {isTrading &&
        INDEXES.map((index) => (
          <button
            key={index}
            type="button"
            class={`button button-outcome-${index}`}
            onClick={() => open(index)}
          >
            {nameOf(shown.market, index)} {best(index) ? shortCents(best(index)?.pips ?? 0) : ''}
          </button>
        ))}
      <a href="/explore" onClick={inPage('/explore')}>
        Markets
      </a>
      <a href="/portfolio" onClick={inPage('/portfolio')}>
        Portfolio
      </a>
    </nav>
  );
};
