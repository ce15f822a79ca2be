import type { ExchangeSocket } from '../sockets/sockets';
import type { Snapshot } from './snapshots';

/**
 * The latest snapshot of a market that each socket was sent. A sequence alone does not identify a snapshot: after Redis has
 * lost its latest writes, it belongs to another book.
 */
export function createSentSnapshots(marketsMax: number) {
  const sockets = new WeakMap<ExchangeSocket, Map<string, string>>();
  const nameOf = ({ sequence, checksum }: Snapshot): string => `${sequence} ${checksum}`;
  return {
    has: (socket: ExchangeSocket, snapshot: Snapshot): boolean =>
      sockets.get(socket)?.get(snapshot.marketId) === nameOf(snapshot),
    add: (socket: ExchangeSocket, snapshot: Snapshot): void => {
      const sent = sockets.get(socket) ?? new Map<string, string>();
      sockets.set(socket, sent);
      sent.set(snapshot.marketId, nameOf(snapshot));
      const [oldest] = sent.keys();
      if (sent.size > marketsMax && oldest !== undefined) sent.delete(oldest);
    },
  };
}
