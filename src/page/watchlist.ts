import { type Cell, cell } from './cell';
import { keep, kept, onKept } from './local-storage';

/** Markets that the person wants to find again, by id; the latest last. */
const NAME = 'watchlist';
const WATCHED_MAX = 50;

function parse(text: string | null): readonly string[] {
  try {
    const ids: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string').slice(-WATCHED_MAX) : [];
  } catch {
    return [];
  }
}

export const watchlist: Cell<readonly string[]> = cell(parse(kept(NAME)));

export function toggleWatched(id: string): void {
  const now = watchlist.get();
  const next = now.includes(id) ? now.filter((one) => one !== id) : [...now, id].slice(-WATCHED_MAX);
  keep(NAME, JSON.stringify(next));
  watchlist.set(next);
}

onKept(NAME, (text) => watchlist.set(parse(text)));
