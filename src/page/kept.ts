/**
 * The values that this browser keeps between visits. Storage can be missing, full or forbidden; then nothing is kept.
 */
const PREFIX = 'exchange.';

export function kept(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

export function keep(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
  } catch {
    // The page works without.
  }
}

/** Told when another tab changes what is kept under this name. */
export function onKept(name: string, listener: (value: string | null) => void): void {
  addEventListener('storage', ({ key, newValue }) => {
    if (key === PREFIX + name) listener(newValue);
  });
}
