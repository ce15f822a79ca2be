import { type Cell, cell } from './cell';

/** A message that was not requested: shown for a moment, and announced by a screen reader. */
export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'good' | 'plain' | 'bad';
}

const SHOWN_MS = 6_000;
const SHOWN_MAX = 3;

export const toasts: Cell<readonly Toast[]> = cell<readonly Toast[]>([]);
/** The messages that came while the page was hidden; its title counts them. */
export const unseen: Cell<number> = cell(0);

let lastId = 0;

export function dismiss(id: number): void {
  toasts.set(toasts.get().filter((toast) => toast.id !== id));
}

export function tell(text: string, tone: Toast['tone'] = 'plain'): void {
  lastId += 1;
  const id = lastId;
  toasts.set([...toasts.get(), { id, text, tone }].slice(-SHOWN_MAX));
  if (document.visibilityState === 'hidden') unseen.set(unseen.get() + 1);
  setTimeout(dismiss, SHOWN_MS, id);
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') unseen.set(0);
});
