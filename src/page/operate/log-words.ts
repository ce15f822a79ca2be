import type { LogEntry } from './api';

/** The market in the path of an action; null for other actions. */
export const marketIn = ({ path }: Pick<LogEntry, 'path'>): string | null =>
  /^\/admin\/markets\/([^/]+)/.exec(path)?.[1] ?? null;

const MOVES: Readonly<Record<string, string>> = {
  open: 'Opened',
  pause: 'Paused',
  resume: 'Resumed',
  close: 'Closed',
  void: 'Voided',
  resolve: 'Resolved',
  unresolve: 'Took back the result of',
};

/** An action as a sentence; `question` is that of its market, if it is known. */
export function sentenceOf({ action, path, body }: LogEntry, question: string | undefined): string {
  const name = question === undefined ? (marketIn({ path }) ?? '') : `“${question}”`;
  const move = MOVES[/^POST \/admin\/markets\/\{id\}\/(\w+)$/.exec(action)?.[1] ?? ''];
  if (move) return `${move} ${name}${typeof body.confirm === 'string' ? `: ${body.confirm} won` : ''}`;
  switch (action) {
    case 'POST /admin/markets':
      return `Created “${body.question}”`;
    case 'PATCH /admin/markets/{id}':
      return `Edited ${Object.keys(body).join(', ')} of ${name}`;
    case 'PUT /admin/mode':
      return `Set the mode to ${body.mode}${body.message ? `, “${body.message}”` : ''}`;
    case 'GET /admin/audit':
      return 'Ran the audit';
    case 'DELETE /admin/comments/{comment_id}':
      return 'Deleted a comment';
    default:
      return `${path} ${JSON.stringify(body)}`;
  }
}

/** What takes an action back, where something does. */
export function undoOf({ action, path }: LogEntry): { readonly words: string; readonly path: string } | null {
  if (action === 'POST /admin/markets/{id}/pause')
    return { words: 'Resume', path: path.replace(/pause$/, 'resume') };
  if (action === 'POST /admin/markets/{id}/resume')
    return { words: 'Pause', path: path.replace(/resume$/, 'pause') };
  return null;
}
