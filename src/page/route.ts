import { type Cell, cell } from './cell';

/** The market shown is in the address, so that a reload, a bookmark or a link shows it again. */
const PARAMETER = 'market';

const inAddress = (): string | null => new URLSearchParams(location.search).get(PARAMETER);

/** Slug, id or condition id; null where none is chosen. */
export const route: Cell<string | null> = cell(inAddress());

export const linkTo = (slug: string): string => `/?${new URLSearchParams({ [PARAMETER]: slug })}`;

export function go(slug: string): void {
  if (inAddress() !== slug) history.pushState(null, '', linkTo(slug));
  route.set(slug);
}

addEventListener('popstate', () => route.set(inAddress()));
