import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import { crc32Hex } from '../../wire/crc32';

const deflated = promisify(deflate);

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const BYTES_PER_PIXEL = 4;
/** Eight bits a channel, red, green, blue and alpha; no palette, no interlacing. */
const FORMAT = [8, 6, 0, 0, 0];

/** A picture as a file. The packing is done beside the event loop, where the drawing library would hold it up. */
export async function encodePng(width: number, height: number, rgba: Buffer): Promise<Buffer> {
  const header = Buffer.alloc(8 + FORMAT.length);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set(FORMAT, 8);
  const rowBytes = width * BYTES_PER_PIXEL;
  // Each row begins with the number of its filter: none.
  const rows = Buffer.alloc((rowBytes + 1) * height);
  for (let y = 0; y < height; y++) rgba.copy(rows, y * (rowBytes + 1) + 1, y * rowBytes, (y + 1) * rowBytes);
  const packed = await deflated(rows);
  return Buffer.concat([
    SIGNATURE,
    part('IHDR', header),
    part('IDAT', packed),
    part('IEND', Buffer.alloc(0)),
  ]);
}

function part(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), content]);
  const bytes = Buffer.alloc(4 + named.length + 4);
  bytes.writeUInt32BE(content.length, 0);
  bytes.set(named, 4);
  bytes.write(crc32Hex(named.toString('latin1')), 4 + named.length, 'hex');
  return bytes;
}
