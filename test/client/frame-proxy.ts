import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** Changes a message of the server on its way to a client; null loses it. */
export type Passing = (text: string) => string | null;

export interface FrameProxy {
  readonly url: string;
  /** The treatment of the messages of present and future connections. */
  filter(pass: Passing): void;
  /** Only for present connections. */
  filterPresent(pass: Passing): void;
  retarget(port: number): void;
  /** The number of connections so far. */
  connections(): number;
  /** Ends every connection. */
  cut(): void;
  stop(): Promise<void>;
}

const BLANK_LINE = Buffer.from('\r\n\r\n');
const TEXT = 0x81;

/** A TCP proxy that understands the frames of a WebSocket server, so that it can lose or alter single messages. */
export async function startFrameProxy(targetPort: number): Promise<FrameProxy> {
  const links = new Set<{ pass: Passing; sockets: readonly Socket[] }>();
  let port = targetPort;
  let connections = 0;
  let passNew: Passing = (text) => text;
  const server = createServer((client) => {
    connections++;
    const upstream = connect(port, '127.0.0.1');
    const link = { pass: passNew, sockets: [client, upstream] };
    links.add(link);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => {
        links.delete(link);
        other.destroy();
      });
    }
    client.on('data', (chunk) => upstream.write(chunk));
    const read = createFrameReader(
      (bytes) => client.write(bytes),
      (text) => link.pass(text),
    );
    upstream.on('data', read);
  });
  const cut = (): void => {
    for (const { sockets } of links) for (const socket of sockets) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    filter: (pass) => {
      passNew = pass;
      for (const link of links) link.pass = pass;
    },
    filterPresent: (pass) => {
      for (const link of links) link.pass = pass;
    },
    retarget: (next) => {
      port = next;
    },
    connections: () => connections,
    cut,
    stop: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Passes the answer to the upgrade unchanged, then frame by frame: a server's frames are neither masked nor compressed. */
function createFrameReader(write: (bytes: Buffer) => void, pass: Passing): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  let isUpgraded = false;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    if (!isUpgraded) {
      const end = rest.indexOf(BLANK_LINE);
      if (end === -1) return;
      isUpgraded = true;
      write(rest.subarray(0, end + BLANK_LINE.length));
      rest = rest.subarray(end + BLANK_LINE.length);
    }
    for (let frame = frameOf(rest); frame; frame = frameOf(rest)) {
      const whole = rest.subarray(0, frame.end);
      rest = rest.subarray(frame.end);
      if (whole[0] !== TEXT) write(whole);
      else {
        const text = pass(whole.subarray(frame.start).toString());
        if (text !== null) write(framed(Buffer.from(text)));
      }
    }
  };
}

function frameOf(bytes: Buffer): { start: number; end: number } | null {
  if (bytes.length < 2) return null;
  const short = (bytes[1] ?? 0) & 0x7f;
  const start = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < start) return null;
  const length =
    short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  return bytes.length < start + length ? null : { start, end: start + length };
}

function framed(payload: Buffer): Buffer {
  const header = Buffer.alloc(payload.length < 126 ? 2 : 10);
  header[0] = TEXT;
  if (payload.length < 126) header[1] = payload.length;
  else {
    header[1] = 127;
    header.writeBigUInt64BE(BigInt(payload.length), 2);
  }
  return Buffer.concat([header, payload]);
}
