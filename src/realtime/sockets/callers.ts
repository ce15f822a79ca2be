import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** The caller of a socket, and the remaining points of all sockets of an address; passed in by the composition root. */
export interface Callers {
  readonly addressOf: (request: IncomingMessage) => string;
  readonly pace: {
    charge(address: string, points: number): void;
    /** The time until nothing is owed. */
    debtMs(address: string): number;
    /** Calls `then` when nothing is owed, or `late` after a while; neither once the peer has disconnected. */
    whenPaid(address: string, socket: Duplex, then: () => void, late: () => void): void;
  };
}
