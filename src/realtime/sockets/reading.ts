import { SOCKET_LIMITS } from '../../wire/limits';
import type { Callers } from './callers';
import { type ExchangeSocket, webSocketOf } from './sockets';

const { bytesPerPoint } = SOCKET_LIMITS.pace;
/** A message may come in pieces, which have more bytes than itself; anything beyond that is frames without content. */
const PIECES_FACTOR = 2;

export interface Reading {
  /** The last read contained a message. */
  heard(): void;
}

export interface ReadingOptions {
  readonly connection: ExchangeSocket['conn'];
  readonly address: string;
  readonly pace: Callers['pace'];
  /** The largest message that the connection may send now. */
  readonly messageMaxBytes: () => number;
  /** More bytes came without a message than any message needs. */
  readonly onNoise: () => void;
}

/** Charges the bytes that are read from a connection before they are parsed, and stops reading while its address owes. */
export function readAtPace({ connection, address, pace, messageMaxBytes, onNoise }: ReadingOptions): Reading {
  const webSocket = webSocketOf(connection);
  let silentBytes = 0;
  let waiting: NodeJS.Timeout | undefined;

  function holdWhileOwing(): void {
    const owedMs = pace.debtMs(address);
    if (owedMs > 0) {
      webSocket?.pause();
      waiting = setTimeout(holdWhileOwing, owedMs);
      return;
    }
    waiting = undefined;
    webSocket?.resume();
  }

  connection.request.socket.prependListener('data', (chunk: Buffer) => {
    pace.charge(address, chunk.length / bytesPerPoint);
    if (silentBytes > PIECES_FACTOR * messageMaxBytes()) onNoise();
    silentBytes += chunk.length;
    if (waiting === undefined && pace.debtMs(address) > 0) holdWhileOwing();
  });
  connection.once('close', () => clearTimeout(waiting));

  return {
    heard: () => {
      silentBytes = 0;
    },
  };
}
