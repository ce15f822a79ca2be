import type { IncomingMessage } from 'node:http';
import { Refusal } from '../../exchange/errors';
import { parseJson } from '../../wire/json';
import { ClientGone } from './failures';

/** A body over its limit is read up to here, so that a client that sends before it listens still receives the answer. */
const DRAIN_MAX_BYTES = 4_194_304;
const EMPTY = Buffer.alloc(0);
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*"?utf-8"?[ \t]*)?;?[ \t]*$/i;

/** Returns the whole body; throws PAYLOAD_TOO_LARGE above `maxBytes`. The server's requestTimeout limits the time. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared === 0 && request.headers['transfer-encoding'] === undefined) return Promise.resolve(EMPTY);
  if (declared > DRAIN_MAX_BYTES) return Promise.reject(tooLarge(maxBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (outcome: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      outcome();
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else if (bytes > DRAIN_MAX_BYTES) settle(() => reject(tooLarge(maxBytes)));
    };
    const onEnd = (): void =>
      settle(() => {
        if (bytes > maxBytes) reject(tooLarge(maxBytes));
        else resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
      });
    const onClose = (): void => settle(() => reject(new ClientGone()));
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

export const tooLarge = (maxBytes: number): Refusal =>
  new Refusal('PAYLOAD_TOO_LARGE', `the body may have at most ${maxBytes} bytes`);

/** Returns the value of a JSON body; undefined for an empty body where the request needs none. */
export function jsonOf(request: IncomingMessage, bytes: Buffer, optional: boolean): unknown {
  if (optional && bytes.length === 0) return undefined;
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new Refusal(
      'UNSUPPORTED_MEDIA_TYPE',
      'a compressed body is not accepted; send it without Content-Encoding',
    );
  }
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) throw new Refusal('UNSUPPORTED_MEDIA_TYPE');
  return parseJson(bytes);
}
