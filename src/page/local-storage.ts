/** Values that this browser stores between visits. If the storage is missing, full or forbidden, nothing is stored. */
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
    // The page works without it.
  }
}

/** Notifies when another tab changes the value under this name. */
export function onKept(name: string, listener: (value: string | null) => void): void {
  addEventListener('storage', ({ key, newValue }) => {
    if (key === PREFIX + name) listener(newValue);
  });
}
