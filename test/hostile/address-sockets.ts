import { type IncomingMessage, request } from 'node:http';
import { Manager, type Socket } from 'socket.io-client';
import type { Replica } from '../support/web-replicas';

/** Sockets from chosen addresses, for replicas that trust one proxy. */
interface Wire {
  readonly _socket: { write(data: Buffer): void };
  send(data: string | Buffer): void;
  ping(): void;
  pong(): void;
}
export const wireOf = (socket: Socket): Wire => (socket.io.engine.transport as unknown as { ws: Wire }).ws;

const open = new Set<Socket>();
export function closeAll(): void {
  for (const socket of open) socket.disconnect();
  open.clear();
}

/** Every test uses another address, so that none has used up the points of the next one. */
let addresses = 0;
export const newAddress = (): string => `198.51.100.${++addresses}`;

export function connect(at: Replica, address: string): Promise<Socket> {
  const manager = new Manager(at.url, {
    transports: ['websocket'],
    reconnection: false,
    extraHeaders: { 'X-Forwarded-For': address },
  });
  const socket = manager.socket('/');
  open.add(socket);
  return new Promise((resolve, reject) => {
    socket.on('connect', () => resolve(socket));
    socket.on('connect_error', reject);
  });
}

export const many = (count: number, at: Replica, address: string): Promise<Socket[]> =>
  Promise.all(Array.from({ length: count }, () => connect(at, address)));

/** The answer to an HTTP client that requests a WebSocket. */
export async function refusal(at: Replica, address: string) {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': Buffer.alloc(16).toString('base64'),
      'X-Forwarded-For': address,
    };
    const sent = request(`${at.url}/socket.io/?EIO=4&transport=websocket`, { headers });
    sent.on('response', resolve);
    sent.on('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new Error('it became a socket'));
    });
    sent.on('error', reject);
    sent.end();
  });
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  const { code, scope } = JSON.parse(text);
  return { status: answer.statusCode ?? 0, code, scope, retryAfter: answer.headers['retry-after'] };
}

export const goneWithin = (socket: Socket, ms: number): Promise<boolean> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms, false);
    socket.once('disconnect', () => resolve(true));
  });

export const ask = (socket: Socket, event: string, message: unknown) =>
  socket.timeout(20_000).emitWithAck(event, message);
