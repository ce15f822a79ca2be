import { IncomingMessage } from 'node:http';

/** A body comes in one piece for each TCP segment or chunk; the largest has five hundred of the smallest usual ones. */
const PIECES_MAX = 2_048;
/** The rest of a declared body without a reader is read up to here, so that the connection can be kept. */
export const DUMPED_MAX_BYTES = 65_536;

export interface MeteredRequest extends IncomingMessage {
  readonly pieces: number;
  readonly bytes: number;
  /** Set by client-address.ts. */
  addressKey: string | undefined;
  /** The connection was ended in the middle of the body. */
  cut: boolean;
}

/**
 * A class of requests that count their bodies as they come in. The cost of a piece is the same however small it is, so
 * too many of them end the connection, also where the body has no reader. Each application has a class of its own,
 * because it gives it other prototypes.
 */
export const createRequestClass = () =>
  class extends IncomingMessage implements MeteredRequest {
    pieces = 0;
    bytes = 0;
    addressKey: string | undefined = undefined;
    cut = false;

    override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
      if (chunk === null) return super.push(chunk, encoding);
      // The parser goes on to the end of its buffer.
      if (this.cut) return false;
      this.pieces++;
      this.bytes += chunk.length;
      if (this.pieces <= PIECES_MAX) return super.push(chunk, encoding);
      this.cut = true;
      this.socket.destroy();
      return false;
    }
  };
