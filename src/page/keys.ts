import { account, isOpen } from './account-data';
import { type Cell, cell } from './cell';
import { exchangeState } from './exchange-state';
import { keep, kept } from './local-storage';
import { outcome, side, typePrice } from './ticket-state';
import { tell } from './toasts';
import { centsField, PIPS_ONE, pipsTyped } from './units';

/** What a key has opened. */
export const keyDialog: Cell<'help' | 'cancel' | null> = cell<'help' | 'cancel' | null>(null);

const OFF = 'keys-off';
/** Whether single keys do nothing; it stays so in this browser. */
export const areKeysOff: Cell<boolean> = cell(kept(OFF) !== null);

export function switchKeys(): void {
  areKeysOff.set(!areKeysOff.get());
  keep(OFF, areKeysOff.get() ? 'off' : null);
}

/** Tick size of the chosen market. */
export const tickPips: Cell<number> = cell(100);

const BIG_STEP = 10;

function askToCancel(): void {
  if (!(account.get().orders ?? []).some(isOpen)) tell('You have no open orders.');
  else if (exchangeState.get()?.mode === 'HALTED') tell('Trading is halted: orders stay as they are.', 'bad');
  else keyDialog.set('cancel');
}

const ACTS: Readonly<Record<string, () => void>> = {
  '/': () => document.getElementById('search')?.focus(),
  b: () => side.set('BUY'),
  s: () => side.set('SELL'),
  y: () => outcome.set(0),
  n: () => outcome.set(1),
  x: askToCancel,
  '?': () => keyDialog.set(keyDialog.get() === 'help' ? null : 'help'),
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
  const act = areKeysOff.get() ? undefined : ACTS[event.key];
  if (!act) return;
  act();
  event.preventDefault();
});
