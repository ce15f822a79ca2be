import { connectLive, createClient, type Session } from 'ctf-exchange-client';
import { type Cell, cell } from './cell';
import { keep, kept, onKept } from './local-storage';
import { tell } from './toasts';

/** The client of the public interface; this page uses no other interface. */

export type WalletKind = 'test' | 'injected';

/** The signed-in wallet. */
export interface Wallet {
  readonly address: string;
  readonly kind: WalletKind;
}

interface Kept {
  readonly kind: WalletKind;
  readonly session: Session;
}

const SESSION = 'session';

function parse(text: string | null): Kept | null {
  try {
    const value = JSON.parse(text ?? 'null') as Partial<Kept> | null;
    return value?.session?.refreshToken && value.session.address && value.kind ? (value as Kept) : null;
  } catch {
    return null;
  }
}

const walletOf = (found: Kept | null): Wallet | null =>
  found && { address: found.session.address, kind: found.kind };

const before = parse(kept(SESSION));
let kind: WalletKind = before?.kind ?? 'test';

export const wallet: Cell<Wallet | null> = cell(walletOf(before));

export const client = createClient({
  baseUrl: '',
  session: before?.session ?? null,
  onSession: (session) => {
    keep(SESSION, session && JSON.stringify({ kind, session } satisfies Kept));
    show(session && { kind, session });
  },
});

export const live = connectLive({ baseUrl: '', getToken: client.accessToken });

/** Makes the next session one of this wallet. */
export function useKind(next: WalletKind): void {
  kind = next;
}

let isLeaving = false;

/** Ends the session on request of the person. */
export async function leave(): Promise<void> {
  isLeaving = true;
  await client.signOut().catch(() => undefined);
  isLeaving = false;
}

/** A renewed session of the same wallet changes nothing on the page. */
function show(next: Kept | null): void {
  const now = wallet.get();
  if (next?.session.address === now?.address && next?.kind === now?.kind) return;
  if (now && !next && !isLeaving) tell('Your session has ended. Sign in again to trade.', 'bad');
  wallet.set(walletOf(next));
  live.reauthenticate();
}

// Another tab has renewed the session, or signed in or out. Two tabs that renew independently would end the session.
onKept(SESSION, (value) => {
  const next = parse(value);
  if (next) kind = next.kind;
  client.useSession(next?.session ?? null);
  show(next);
});
