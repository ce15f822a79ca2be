import { cell } from '../cell';

/** The operator's access to the exchange: the admin routes, with the token of this tab. */

const KEPT = 'exchange.operator';
const TOKEN_MIN = 16;

export interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}

export interface LogEntry {
  readonly id: string;
  readonly requestId: string;
  readonly action: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly address: string;
  readonly agent: string | null;
  readonly status: number | null;
  readonly code: string | null;
  readonly at: string;
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

/** A refusal in words; `code` is EMPTY when there was no answer. */
export class Refused extends Error {
  constructor(
    readonly code: string,
    detail: string,
  ) {
    super(detail);
  }
}

function keptToken(): string | null {
  try {
    return sessionStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

export const token = cell<string | null>(keptToken());
/** The entry of the latest action in the operators' log, and the question of its market; gone with the next action or view. */
export const lastEntry = cell<{ readonly entry: LogEntry; readonly about: string | null } | null>(null);

/** Why the operator is at the door, after a refusal. */
export const doorWords = cell<string | null>(null);

/** The token, stored only in this tab. */
export function useToken(next: string | null): void {
  try {
    if (next === null) sessionStorage.removeItem(KEPT);
    else sessionStorage.setItem(KEPT, next);
  } catch {
    // Then a reload asks for it again.
  }
  token.set(next);
}

/** The text behind the # of the address; empty when it is not encoded as it should be. */
export function hashText(): string {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return '';
  }
}

/**
 * Takes the token from the address and removes it there, because a copied address or a screenshot must not contain it. Any other
 * text of this length must not sign the operator out, so the exchange is asked first.
 */
export async function readAddress(): Promise<void> {
  const given = hashText();
  if (given.length < TOKEN_MIN) return;
  history.replaceState(null, '', location.pathname);
  // A header takes no other characters.
  if (!/^[!-~]+$/.test(given)) return;
  if (token.get() !== null && !(await isAccepted(given))) return;
  doorWords.set(null);
  useToken(given);
}

async function isAccepted(given: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${given}` };
  return fetch('/admin/overview', { cache: 'no-store', headers }).then(
    ({ ok }) => ok,
    () => false,
  );
}

let clock = { serverMs: 0, atMs: 0 };
/** The clock of the exchange, to a second. */
export const nowMs = (): number => clock.serverMs + performance.now() - clock.atMs;

async function send(method: string, path: string, body?: unknown): Promise<Response> {
  const response = await fetch(path, {
    method,
    cache: 'no-store',
    headers: {
      authorization: `Bearer ${token.get() ?? ''}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new Refused(
      'NO_ANSWER',
      'The exchange did not answer. Look into the log before you repeat an action.',
    );
  });
  const date = Date.parse(response.headers.get('date') ?? '');
  if (date > 0) clock = { serverMs: date, atMs: performance.now() };
  if (response.ok) return response;
  const problem = (await response.json().catch(() => ({}))) as Partial<Problem>;
  const errors = (problem.errors ?? []).map(({ path: member, message }) => `${member} ${message}`).join('; ');
  const detail = errors || problem.detail || `The exchange answered ${response.status}.`;
  if (response.status === 401) {
    doorWords.set('The exchange does not accept this token.');
    useToken(null);
  }
  throw new Refused(problem.code ?? String(response.status), detail);
}

export async function get<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
  const members = Object.entries(query).filter(([, value]) => value !== '');
  const search = members.length > 0 ? `?${new URLSearchParams(members)}` : '';
  return (await send('GET', `${path}${search}`)).json() as Promise<T>;
}

/** Runs an action, and then shows its entry in the log. The page never shows an action as done before the exchange does. */
export async function act<T>(
  method: string,
  path: string,
  body?: unknown,
  about: string | null = null,
): Promise<T | null> {
  let requestId: string | null = null;
  lastEntry.set(null);
  try {
    const response = await send(method, path, body);
    requestId = response.headers.get('x-request-id');
    return response.status === 204 ? null : ((await response.json()) as T);
  } finally {
    await showEntry(requestId, about);
  }
}

async function showEntry(requestId: string | null, about: string | null): Promise<void> {
  const { data } = await get<Page<LogEntry>>('/admin/log', { limit: '20' }).catch(() => ({ data: [] }));
  // The newest entry belongs to the refused action.
  const entry = data.find((one) => requestId === null || one.requestId === requestId);
  if (entry) lastEntry.set({ entry, about });
}
