import { account, isOpen, reloadAccount } from './account-data';
import { type Cell, cell } from './cell';
import { client } from './exchange';
import { exchangeState } from './exchange-state';
import { outcome, side, typePrice } from './ticket-state';
import { tell } from './toasts';
import { centsField, PIPS_ONE, pipsTyped } from './units';
import { wordsFor } from './words';

export const isHelpShown: Cell<boolean> = cell(false);

/** Tick size of the chosen market. */
export const tickPips: Cell<number> = cell(100);

const BIG_STEP = 10;

async function cancelAll(): Promise<void> {
  const open = (account.get().orders ?? []).filter(isOpen).length;
  if (open === 0) return tell('You have no open orders.');
  if (exchangeState.get()?.mode === 'HALTED')
    return tell('Trading is halted: orders stay as they are.', 'bad');
  try {
    const { count } = await client.cancelAll();
    tell(`${count} ${count === 1 ? 'order is' : 'orders are'} cancelled.`);
  } catch (error) {
    tell(wordsFor(error).text, 'bad');
  }
  reloadAccount();
}

const ACTS: Readonly<Record<string, () => void>> = {
  '/': () => document.getElementById('search')?.focus(),
  b: () => side.set('BUY'),
  s: () => side.set('SELL'),
  y: () => outcome.set(0),
  n: () => outcome.set(1),
  x: () => void cancelAll(),
  '?': () => isHelpShown.set(!isHelpShown.get()),
};

/** Arrow keys change the price field by its steps. */
function stepPrice(field: HTMLInputElement, event: KeyboardEvent): void {
  const sign = { ArrowUp: 1, ArrowDown: -1 }[event.key];
  if (sign === undefined) return;
  const tick = tickPips.get();
  const now = pipsTyped(field.value) ?? PIPS_ONE / 2;
  const next = now + sign * tick * (event.shiftKey ? BIG_STEP : 1);
  typePrice(centsField(Math.min(PIPS_ONE - tick, Math.max(tick, next))));
  event.preventDefault();
}

const isField = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement && target.matches('input, select, textarea');

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const { target } = event;
  if (isField(target)) {
    if (event.key === 'Escape') target.blur();
    if (target instanceof HTMLInputElement && target.id === 'ticket-price') stepPrice(target, event);
    return;
  }
  if (document.querySelector('dialog[open]') && event.key !== '?') return;
  const act = ACTS[event.key];
  if (!act) return;
  act();
  event.preventDefault();
});
