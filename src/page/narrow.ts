import { type Cell, cell } from './cell';

const query = matchMedia('(max-width: 819px)');

/** Whether the columns have become one. */
export const isNarrow: Cell<boolean> = cell(query.matches);

query.addEventListener('change', () => isNarrow.set(query.matches));
