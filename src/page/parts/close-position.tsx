import type { Trading } from 'ctf-exchange-client';
import { viewOf } from 'ctf-exchange-client';
import { useEffect, useState } from 'preact/hooks';
import { useAccount, useWallet } from '../account-data';
import { useCell } from '../cell';
import { client } from '../exchange';
import { exchangeState, whyNoOrders } from '../exchange-state';
import { type Holding, wholeLots } from '../holdings';
import { remembered } from '../market-list-data';
import { estimate, freeOf, type Inputs, type Standing } from '../order-draft';
import { nameOf } from '../outcome-names';
import { place, type Said, type Step } from '../place-order';
import { tell } from '../toasts';
import { dollars, lotsOf, shares, sizeOf } from '../units';
import { Dialog } from './dialog';
import { Skeleton } from './notice';
import { DOING } from './ticket-words';

const PARTS = [25, 50, 100] as const;
/** The interval in which the sheet's book is read again, so that its preview stays correct. */
const REFRESH_MS = 2_000;

/** After the elements of a position are gone, with its button or its open sheet. */
function keepFocus(): void {
  if (document.activeElement === document.body)
    document.getElementById('content')?.focus({ preventScroll: true });
}

/** Sells at once, at the prices of the book. */
export const CloseButton = ({ held }: { readonly held: Holding }) => {
  const [isOpen, setOpen] = useState(false);
  // With its last share a position disappears, and the focus must not disappear with it.
  useEffect(() => () => queueMicrotask(keepFocus), []);
  const market = remembered(held.marketId) ?? null;
  const why = whyNoOrders(market, useCell(exchangeState)?.mode);
  return (
    <>
      <button
        type="button"
        class="link position-close"
        disabled={why !== null || wholeLots(held.freeMicro) === 0}
        title={why ?? undefined}
        onClick={() => setOpen(true)}
      >
        Close<span class="hidden"> this position</span>
      </button>
      {isOpen && <CloseSheet held={held} onDone={() => setOpen(false)} />}
    </>
  );
};

function useTrading(marketId: string): Trading | null {
  const [trading, setTrading] = useState<Trading | null>(null);
  useEffect(() => {
    let isCurrent = true;
    const ask = (): void =>
      void client.trading(marketId).then(
        (next) => isCurrent && setTrading(next),
        () => undefined,
      );
    ask();
    const timer = setInterval(ask, REFRESH_MS);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [marketId]);
  return trading;
}

interface SheetProps {
  readonly held: Holding;
  onDone(): void;
}

const CloseSheet = ({ held, onDone }: SheetProps) => {
  const [part, setPart] = useState<number>(100);
  const [said, setSaid] = useState<Said | null>(null);
  const [doing, setDoing] = useState<Step | 'starting' | null>(null);
  const wallet = useWallet();
  const { balances } = useAccount();
  const trading = useTrading(held.marketId);
  const { outcomeIndex } = held;
  const name = nameOf(trading?.market, outcomeIndex);
  const standing: Standing | null = trading && {
    market: trading.market,
    book: viewOf(trading.orderbook, outcomeIndex),
    free: freeOf(balances, held.marketId, outcomeIndex),
  };
  const lot = trading ? lotsOf(trading.market.lotSize) : 1;
  const all = wholeLots(held.freeMicro);
  const lots = part === 100 ? Math.floor(all / lot) * lot : Math.floor((all * part) / 100 / lot) * lot;
  const inputs: Inputs = {
    side: 'SELL',
    outcome: outcomeIndex,
    orderType: 'MARKET',
    price: '',
    shares: sizeOf(lots),
  };
  const found = standing && estimate(inputs, standing);
  const sell = async (): Promise<void> => {
    if (!trading || !standing || !wallet) return;
    setDoing('starting');
    const shown = { market: trading.market, trading, book: null, trades: null, ticker: null };
    const answer = await place(inputs, shown, standing, wallet, setDoing);
    setDoing(null);
    setSaid(answer);
    if (answer.tone !== 'done') return;
    // After its last share the position disappears, and the sheet with it.
    tell(answer.text, 'good');
    onDone();
  };
  return (
    <Dialog title={`Close ${shares(all)} ${name}`} onClose={onDone}>
      <PartChoice part={part} onChoose={setPart} />
      {!standing ? (
        <Skeleton rows={1} />
      ) : (
        <p role="status" data-testid="close-words">
          {found && found.preview.filledLots > 0
            ? `You receive ${dollars(found.preview.payoutMicro)}; ${restWords(all - found.preview.filledLots, name)}.`
            : 'Nobody bids for these shares right now. Sell them with a limit order instead.'}
        </p>
      )}
      {said?.tone === 'refused' && (
        <p class="refused" role="alert">
          {said.text}
        </p>
      )}
      <button
        type="button"
        class={`button button-wide button-outcome-${outcomeIndex}`}
        disabled={doing !== null || !found?.preview.filledLots}
        onClick={() => void sell()}
      >
        {doing ? DOING[doing] : `Sell ${shares(lots)} ${name} now`}
      </button>
    </Dialog>
  );
};

const PartChoice = ({ part, onChoose }: { readonly part: number; onChoose(part: number): void }) => (
  <fieldset class="choice parts" aria-label="How much">
    {PARTS.map((value) => (
      <button key={value} type="button" aria-pressed={part === value} onClick={() => onChoose(value)}>
        {value} %
      </button>
    ))}
  </fieldset>
);

const restWords = (lots: number, name: string): string =>
  lots === 0 ? 'nothing is left' : `${shares(lots)} ${name} stay`;
