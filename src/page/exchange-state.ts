import type { ExchangeConfig, ExchangeState, Market } from 'ctf-exchange-client';
import { type Cell, cell } from './cell';
import { client, live } from './exchange';

/** The mode of the exchange and the operator's message; null until they are known. */
export const exchangeState: Cell<Pick<ExchangeState, 'mode' | 'message'> | null> = cell<Pick<
  ExchangeState,
  'mode' | 'message'
> | null>(null);

export const config: Cell<ExchangeConfig | null> = cell<ExchangeConfig | null>(null);

live.onExchange(({ mode, message }) => exchangeState.set({ mode, message }));
const RETRY_MS = 3_000;

function loadConfig(): void {
  client.config().then(
    (known) => {
      config.set(known);
      // The message of the socket is newer.
      if (exchangeState.get() === null) exchangeState.set(known);
    },
    () => setTimeout(loadConfig, RETRY_MS),
  );
}
loadConfig();

type Funds = Pick<ExchangeConfig, 'funds' | 'network'>;

/** Whether an order spends money that is worth something; unknown counts as real. */
export const isReal = (known: Funds | null): boolean =>
  known === null || (known.funds === 'chain' && known.network === 'mainnet');

/** What an order spends here. */
export const fundsWords = (known: Funds | null): string =>
  known === null
    ? ''
    : isReal(known)
      ? 'Real funds on BNB Chain.'
      : known.funds === 'chain'
        ? 'Test network: these funds have no value.'
        : 'Test funds: they have no value.';

const ENDED: Readonly<Record<string, string>> = {
  RESOLVED: 'This market is resolved',
  VOIDED: 'This market is void',
  CLOSED: 'Closed: waiting for the result',
  PAUSED: 'Paused: orders can only be cancelled',
  DRAFT: 'Not open yet',
};

/** The reason why no order is accepted now, in the few words of a button; null while orders are accepted. */
export function whyNoOrders(market: Market | null, mode: string | undefined): string | null {
  const ended = market && ENDED[market.status];
  if (ended) return ended;
  if (mode === 'HALTED') return 'Trading is halted';
  if (mode === 'CANCEL_ONLY') return 'Cancel only: no new orders';
  return null;
}

/** Whether trading in the market has ended. */
export const isOver = ({ status }: Market): boolean => status === 'RESOLVED' || status === 'VOIDED';
