import { connect } from 'node:net';
import { seen } from './watch';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The server ended the connection. */
  readonly closed: boolean;
}

/** The silence after a whole answer that ends the wait for more of it. */
const QUIET_MS = 300;
const PATIENCE_MS = 60_000;

/**
 * Sends raw bytes on a separate connection; returns all bytes received until the server closed it, was quiet after a whole
 * answer, or `patienceMs` have passed.
 */
export function sendRaw(
  port: number,
  request: string | Buffer,
  patienceMs = PATIENCE_MS,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    let text = '';
    let closed = false;
    let quiet: NodeJS.Timeout | undefined;
    const finish = (): void => {
      clearTimeout(limit);
      clearTimeout(quiet);
      socket.destroy();
      const answer = parse(text, closed);
      watch(request, answer);
      resolve(answer);
    };
    const limit = setTimeout(finish, patienceMs);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      clearTimeout(quiet);
      if (isWhole(text)) quiet = setTimeout(finish, QUIET_MS);
    });
    socket.on('end', () => {
      closed = true;
      finish();
    });
    socket.on('error', (error) => {
      clearTimeout(limit);
      clearTimeout(quiet);
      if (text === '') reject(error);
      else resolve(parse(text, true));
    });
  });
}

/** An answer behind any 100 has all of its body, and the server does not say that it will close the connection. */
function isWhole(text: string): boolean {
  const final = text.replace(/^HTTP\/1\.1 100 [^\r]*\r\n\r\n/, '');
  const { status, headers, text: body } = parse(final, false);
  if (!final.includes('\r\n\r\n') || headers.get('connection') === 'close') return false;
  return status === 101 || Buffer.byteLength(body) >= Number(headers.get('content-length') ?? 0);
}

function parse(text: string, closed: boolean): RawAnswer {
  const at = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, at).split('\r\n');
  const pairs = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return {
    status: Number(first.split(' ')[1]),
    headers: new Headers(pairs),
    text: text.slice(at + 4),
    closed,
  };
}

/** The first answer, when it is whole. */
function watch(request: string | Buffer, { status, headers, text }: RawAnswer): void {
  const [, method = '', path = ''] = /^([A-Z]+) (\/\S*) HTTP\//.exec(request.toString('latin1')) ?? [];
  const bytes = Buffer.from(text);
  const length = Number(headers.get('content-length') ?? 0);
  if (!headers.has('x-request-id') || bytes.length < length) return;
  seen({ method, path, status, headers, text: bytes.toString('utf8', 0, length) });
}
