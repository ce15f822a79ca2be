import { useCell } from '../cell';
import { exchangeState } from '../exchange-state';

const WORDS = {
  HALTED: 'Trading is halted by the operator; balances are safe.',
  CANCEL_ONLY: 'The exchange takes no new orders at the moment; open orders can be cancelled.',
} as const;

/** The operator's restriction, at the top of the page. */
export const ExchangeBar = () => {
  const state = useCell(exchangeState);
  if (!state || state.mode === 'NORMAL') return null;
  return (
    <p class={`exchange-bar exchange-${state.mode.toLowerCase()}`} role="status" data-testid="exchange-mode">
      {WORDS[state.mode]}
      {state.message !== null && ` ${state.message}`}
    </p>
  );
};
