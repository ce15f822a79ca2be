import { type Cell, cell } from './cell';
import { keep } from './local-storage';
import { chosenTheme, dark, paint, type Theme } from './theme-choice';

/** The current theme; `theme-early` sets it before the page's first paint. */
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
