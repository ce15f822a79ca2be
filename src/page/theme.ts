import { type Cell, cell } from './cell';
import { keep } from './kept';
import { chosenTheme, dark, paint, type Theme } from './theme-choice';

/** What is shown now; before the page's first paint `theme-early` has seen to it. */
export const theme: Cell<Theme> = cell(chosenTheme());

function apply(): void {
  theme.set(chosenTheme());
  paint(theme.get());
}

export function toggleTheme(): void {
  keep('theme', theme.get() === 'dark' ? 'light' : 'dark');
  apply();
}

dark.addEventListener('change', apply);
