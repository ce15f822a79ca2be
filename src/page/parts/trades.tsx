import { useCell } from '../cell';
import type { Shown } from '../market-data';
import { nameOf } from '../outcome-names';
import { outcome } from '../ticket-state';
import { cents, lotsOf, PIPS_ONE, pipsOf, roughShares } from '../units';
import { Moment } from './moment';
import { Notice, Skeleton } from './notice';

/** The latest trades of the market, at prices of the chosen outcome. */
export const Trades = ({ shown }: { readonly shown: Shown | null }) => {
  const index = useCell(outcome);
  const trades = shown?.trades ?? null;
  const isEmpty = trades?.length === 0;
  return (
    <section class="card trades" aria-labelledby="trades-title">
      <h2 id="trades-title" class="card-title">
        Recent trades <span class={`outcome outcome-${index}`}>{nameOf(shown?.market, index)}</span>
      </h2>
      {!isEmpty && (
        <div class="trades-head" aria-hidden="true">
          <span>Price</span>
          <span>Shares</span>
          <span>Time</span>
        </div>
      )}
      <div class={isEmpty ? 'trades-body panel-empty' : 'trades-body'}>
        {trades === null ? (
          <Skeleton rows={10} />
        ) : trades.length === 0 ? (
          <Notice title="No trades yet">The first trade will appear here.</Notice>
        ) : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also for those who use the keyboard
          <ul class="trades-rows" tabIndex={0} aria-label="Recent trades">
            {trades.map(({ id, price, size, side, outcomeIndex, matchedAt }) => {
              const pips = outcomeIndex === index ? pipsOf(price) : PIPS_ONE - pipsOf(price);
              // A buyer of No is a seller of Yes.
              const isUp = (side === 'BUY') === (outcomeIndex === index);
              return (
                <li key={id} class="trade" data-testid="trade">
                  <span class={isUp ? 'trade-price up' : 'trade-price down'}>
                    {cents(pips)}
                    <span class="hidden">{isUp ? ' bought' : ' sold'}</span>
                  </span>
                  <span>{roughShares(lotsOf(size))}</span>
                  <Moment at={matchedAt} />
                </li>
              );
            })}
          </ul>
        )}
      </div>
    </section>
  );
};
