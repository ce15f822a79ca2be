import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { paceClock } from './request-pacing';

/** More than headers, the largest body and the requests that wait behind it. */
const BETWEEN_MAX_BYTES = 4_194_304;
/** A client that takes nothing of its answer for this time is gone, or keeps it in our memory on purpose. */
const UNTAKEN_MAX_MS = 20_000;
const LOOK_EVERY_MS = 50;

interface Seen {
  /** When the latest request began. */
  bytesRead: number;
  bytesTaken: number;
  takenAtMs: number;
}

export interface ConnectionEvents {
  opened(socket: Socket): void;
  /** A connection is about to be ended, because it sends without asking or does not take what it asked for. */
  ended(socket: Socket): void;
  /** Called at each check with the bytes of answers that clients have not read yet. */
  untaken(socket: Socket, bytes: number): void;
}

/**
 * Ends connections that no request or answer ends. One sends and sends without a request: the parser skips line ends
 * before a request for as long as they come. The other asks and does not read: its answers would stay in memory for as
 * long as it likes.
 */
export function watchConnections(server: Server, { opened, ended, untaken }: ConnectionEvents): void {
  const open = new Map<Socket, Seen>();
  /** A connection that offers another protocol is announced again each time. */
  const known = new WeakSet<Socket>();
  const timer = setInterval(() => {
    for (const [socket, seen] of open) {
      if (!isSilent(socket, seen) && !isUnread(socket, seen)) {
        if (socket.writableLength > 0) untaken(socket, socket.writableLength);
        continue;
      }
      ended(socket);
      socket.destroy();
    }
  }, LOOK_EVERY_MS);
  timer.unref();
  server.on('connection', (socket: Socket) => {
    open.set(socket, { bytesRead: socket.bytesRead, bytesTaken: 0, takenAtMs: paceClock.nowMs() });
    if (known.has(socket)) return;
    known.add(socket);
    socket.once('close', () => open.delete(socket));
    opened(socket);
  });
  server.on('request', ({ socket }) => {
    const seen = open.get(socket);
    if (seen) seen.bytesRead = socket.bytesRead;
  });
  // WebSockets have rules of their own, for what they send and for what they do not take.
  server.on('upgrade', ({ socket }) => open.delete(socket));
  server.once('close', () => clearInterval(timer));
}

const isSilent = ({ bytesRead }: Socket, seen: Seen): boolean =>
  bytesRead - seen.bytesRead > BETWEEN_MAX_BYTES;

function isUnread({ bytesWritten, writableLength }: Socket, seen: Seen): boolean {
  const taken = bytesWritten - writableLength;
  const nowMs = paceClock.nowMs();
  if (writableLength === 0 || taken !== seen.bytesTaken) {
    seen.bytesTaken = taken;
    seen.takenAtMs = nowMs;
    return false;
  }
  return nowMs - seen.takenAtMs > UNTAKEN_MAX_MS;
}
