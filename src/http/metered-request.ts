import { IncomingMessage } from 'node:http';

/** A body arrives in a piece for each TCP segment or chunk; the largest body has five hundred of the smallest usual ones. */
const PIECES_MAX = 2_048;
/** The unread rest of a declared body is read up to here, so that the connection can be reused. */
export const DUMPED_MAX_BYTES = 65_536;

export interface MeteredRequest extends IncomingMessage {
  readonly pieces: number;
  readonly bytes: number;
  /** Set by client-address.ts. */
  addressKey: string | undefined;
  /** The connection was closed in the middle of the body. */
  cut: boolean;
}

/**
 * A class of requests that count their bodies as they arrive. A piece costs the same however small it is, so too many
 * pieces end the connection, even if the body has no reader. Each application has its own class, because it sets other
 * prototypes.
 */
export const createRequestClass = () =>
  class extends IncomingMessage implements MeteredRequest {
    pieces = 0;
    bytes = 0;
    addressKey: string | undefined = undefined;
    cut = false;

    override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
      if (chunk === null) return super.push(chunk, encoding);
      // The parser continues to the end of its buffer.
      if (this.cut) return false;
      this.pieces++;
      this.bytes += chunk.length;
      if (this.pieces <= PIECES_MAX) return super.push(chunk, encoding);
      this.cut = true;
      this.socket.destroy();
      return false;
    }
  };
