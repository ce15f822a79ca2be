import type { Attack } from './attacker';

/** One request that a hostile address repeats. */
export interface Plan {
  readonly what: string;
  readonly attack: Pick<Attack, 'requests' | 'stream' | 'socket'>;
}

export function bytes(method: string, path: string, body?: string, more = ''): Buffer {
  const content =
    body === undefined
      ? ''
      : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${more}${content}\r\n${body ?? ''}`);
}
