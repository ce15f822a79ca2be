import { type Cell, cell } from './cell';

function followed(media: string): Cell<boolean> {
  const query = matchMedia(media);
  const matches = cell(query.matches);
  query.addEventListener('change', () => matches.set(query.matches));
  return matches;
}

/** Whether the page shows a single column. */
export const isNarrow: Cell<boolean> = followed('(max-width: 819px)');
/** Whether book and trades have a column of their own. */
export const isVast: Cell<boolean> = followed('(min-width: 1800px)');
