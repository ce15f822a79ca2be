import { kept } from './local-storage';

export type Theme = 'light' | 'dark';

export const dark = matchMedia('(prefers-color-scheme: dark)');

/** The reader's choice, or the system's. */
export function chosenTheme(): Theme {
  const choice = kept('theme');
  if (choice === 'light' || choice === 'dark') return choice;
  return dark.matches ? 'dark' : 'light';
}

export function paint(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}
