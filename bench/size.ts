/** How much a suite does: `small` shows within seconds that it runs, and its figures mean nothing. */
export type Size = 'small' | 'usual' | 'full';

export const sizes = <T>(small: T, usual: T, full: T = usual): Readonly<Record<Size, T>> => ({
  small,
  usual,
  full,
});
