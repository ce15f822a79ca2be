const PREFIX = 'exchange.';

/** If the storage is missing, full or forbidden, nothing is stored, and the page works without it. */
const storedIn = (storage: () => Storage) => ({
  kept(name: string): string | null {
    try {
      return storage().getItem(PREFIX + name);
    } catch {
      return null;
    }
  },
  keep(name: string, value: string | null): void {
    try {
      if (value === null) storage().removeItem(PREFIX + name);
      else storage().setItem(PREFIX + name, value);
    } catch {}
  },
});

/** Values that this browser stores between visits. */
export const { kept, keep } = storedIn(() => localStorage);
/** Values that this tab stores over a reload. */
export const inTab = storedIn(() => sessionStorage);

/** Notifies when another tab changes the value under this name. */
export function onKept(name: string, listener: (value: string | null) => void): void {
  addEventListener('storage', ({ key, newValue }) => {
    if (key === PREFIX + name) listener(newValue);
  });
}
