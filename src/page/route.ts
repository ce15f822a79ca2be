import type { TargetedMouseEvent } from 'preact';
import { type Cell, cell } from './cell';

/** The view is in the address, so that a reload, a bookmark or a link opens it again. */
export type View =
  /** Slug, id or condition id; null without a choice. */
  | { readonly name: 'market'; readonly market: string | null }
  | { readonly name: 'event'; readonly slug: string }
  | { readonly name: 'person'; readonly address: string }
  | { readonly name: 'explore' }
  | { readonly name: 'leaders' }
  | { readonly name: 'portfolio' };

/** Former addresses: `/?market=<slug>`. */
const PARAMETER = 'market';

/** An address that is not encoded as it should be is one that nothing has. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function inAddress(): View {
  const [, first = '', second = ''] = location.pathname.split('/');
  const rest = decoded(second);
  if (first === 'm' && rest !== '') return { name: 'market', market: rest };
  if (first === 'e' && rest !== '') return { name: 'event', slug: rest };
  if (first === 'u' && rest !== '') return { name: 'person', address: rest };
  if (first === 'explore' || first === 'portfolio' || first === 'leaders') return { name: first };
  return { name: 'market', market: new URLSearchParams(location.search).get(PARAMETER) };
}

export const view: Cell<View> = cell(inAddress());
/** The slug of the event's market that the ticket is for; null until the event is known. */
export const eventChoice: Cell<string | null> = cell<string | null>(null);

export const linkTo = (slug: string): string => `/m/${encodeURIComponent(slug)}`;
export const linkToPerson = (address: string): string => `/u/${address}`;
export const LEADERS = '/leaders';
export const linkToEvent = (slug: string): string => `/e/${encodeURIComponent(slug)}`;

/** The filters of the list stay in the address from view to view. */
const filters = (): string => {
  const query = new URLSearchParams(location.search);
  query.delete(PARAMETER);
  return query.size > 0 ? `?${query}` : '';
};

function goTo(path: string): void {
  const before = view.get().name;
  isSheetOpen.set(false);
  if (location.pathname !== path) history.pushState(null, '', path + filters());
  view.set(inAddress());
  // Another market keeps the scroll position; another view begins at its top.
  if (before !== view.get().name) scrollTo(0, 0);
}

export const go = (slug: string): void => goTo(linkTo(slug));

/** The address of the market that is shown without a choice: a reload shows the same, whatever the list begins with then. */
export function settleOn(slug: string): void {
  history.replaceState(null, '', linkTo(slug) + filters());
  view.set(inAddress());
}

/** Puts the filters of the list into the address. */
export function keepInAddress(query: URLSearchParams): void {
  const named = new URLSearchParams(location.search).get(PARAMETER);
  if (named !== null) query.set(PARAMETER, named);
  const text = query.size > 0 ? `?${query}` : '';
  if (text !== location.search) history.replaceState(null, '', location.pathname + text + location.hash);
}

/** On a phone the ticket is a sheet above the page, and a step of the history: Back closes it, and the market stays. */
export const isSheetOpen: Cell<boolean> = cell(false);

export function openSheet(): void {
  if (isSheetOpen.get()) return;
  history.pushState(null, '', location.href);
  isSheetOpen.set(true);
}

addEventListener('popstate', () => {
  isSheetOpen.set(false);
  view.set(inAddress());
});

/** Opens a new tab if the reader requests one. */
const isPlain = ({ button, ctrlKey, metaKey, shiftKey }: TargetedMouseEvent<HTMLElement>): boolean =>
  button === 0 && !ctrlKey && !metaKey && !shiftKey;

/** A link within the page: it changes the view without loading a document. */
export const inPage = (path: string) => (event: TargetedMouseEvent<HTMLElement>) => {
  if (!isPlain(event)) return;
  event.preventDefault();
  goTo(path);
};
