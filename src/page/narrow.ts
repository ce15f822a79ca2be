import { type Cell, cell } from './cell';

const query = matchMedia('(max-width: 819px)');

/** Whether the page shows a single column. */
export const isNarrow: Cell<boolean> = cell(query.matches);

query.addEventListener('change', () => isNarrow.set(query.matches));
