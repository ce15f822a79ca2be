import type { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DefaultEventsMap, Server, Socket } from 'socket.io';
import type { Caller } from '../../auth/sessions';
import type { BetweenEvents } from '../messages';

/** The owner of a socket; null for a public socket. */
export interface SocketOwner {
  /** In lower case. */
  readonly address: string;
  readonly sid: string;
  /** Infinity for an API key without an expiration. */
  readonly expiresAtMs: number;
  readonly cancelOnDisconnect: boolean;
}

/** The owner of a socket, from its access token or API key. */
export const ownerOf = ({ address, sid, expiresAt }: Caller, cancelOnDisconnect: boolean): SocketOwner => ({
  address: address.toLowerCase(),
  sid,
  expiresAtMs: expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
  cancelOnDisconnect,
});

/** The position of a private socket in the log of its wallet. */
export interface PrivatePosition {
  /** The socket receives every event after this number. */
  readonly from: number;
  /** The latest number when the position was determined. */
  readonly at: number;
  /** True when it continues after the number that its client has, not after the latest. */
  readonly isResumed: boolean;
  /** Whether the client wants `account:resumed`. */
  readonly isAsked: boolean;
}

/** The token of a private socket, and the caller that it was when the socket took it. */
export interface SocketBearer {
  readonly token: string;
  readonly caller: Caller;
  readonly expiresAtMs: number;
}

interface SocketData {
  owner: SocketOwner | null;
  bearer: SocketBearer | null;
  position: PrivatePosition | null;
}

export type ExchangeServer = Server<DefaultEventsMap, DefaultEventsMap, BetweenEvents, SocketData>;
export type ExchangeSocket = Socket<DefaultEventsMap, DefaultEventsMap, BetweenEvents, SocketData>;

const WALLET = 'w:';
export const walletRoom = (address: string): string => `${WALLET}${address}`;
/** Null for the room of a market. */
export const walletOfRoom = (room: string): string | null =>
  room.startsWith(WALLET) ? room.slice(WALLET.length) : null;

/** The state that engine.io keeps of a connection. Its types lack it, and it is the only way to see unsent bytes. */
interface Pipe {
  readonly transport?: { readonly socket?: WebSocketLike };
  readonly writeBuffer?: readonly { readonly data?: unknown }[];
}

interface WebSocketLike extends EventEmitter {
  readonly bufferedAmount: number;
  readonly readyState: number;
  /** Private to the library, which has no other way to give one connection a limit of its own. */
  readonly _receiver?: { _maxPayload?: number };
  send(text: string): void;
  close(code: number): void;
  /** Whether the connection is being read. */
  pause(): void;
  resume(): void;
  terminate(): void;
}

const OPEN = 1;
const CLOSED = 3;
const CLOSE_POLL_MS = 20;

/** Bytes that were given to a socket and have not left the process. */
export function unsentBytes(socket: ExchangeSocket): number {
  const { transport, writeBuffer = [] } = socket.conn as unknown as Pipe;
  let bytes = transport?.socket?.bufferedAmount ?? 0;
  for (const { data } of writeBuffer) bytes += typeof data === 'string' ? data.length : 0;
  return bytes;
}

export const webSocketOf = (connection: ExchangeSocket['conn']): WebSocketLike | undefined =>
  (connection as unknown as Pipe).transport?.socket;

/** Raises the message size of one connection; the limit of the server remains for all others. */
export function allowMessages(connection: ExchangeSocket['conn'], maxBytes: number): void {
  const receiver = webSocketOf(connection)?._receiver;
  if (receiver) receiver._maxPayload = maxBytes;
}

/** Sends a frame without the queue of Engine.IO, which costs more than the frame. A closed connection takes none. */
export function sendFrame(connection: ExchangeSocket['conn'], text: string): void {
  const webSocket = webSocketOf(connection);
  if (webSocket?.readyState === OPEN) webSocket.send(text);
}

/** Ends a connection at once, without waiting for a peer that does not read. */
export const cutConnection = (connection: ExchangeSocket['conn']): void =>
  webSocketOf(connection)?.terminate();
export const cutSocket = ({ conn }: ExchangeSocket): void => cutConnection(conn);

/** Sends an event whose text was made once for many sockets. */
export function sendText(socket: ExchangeSocket, text: string): void {
  if (socket.connected) socket.conn.write(text);
}

/** An event of the default namespace, as Socket.IO writes it. */
export const eventText = (event: string, body: unknown): string => `2${JSON.stringify([event, body])}`;

/** Closes every connection of a server in order, and cuts those left after `graceMs`. */
export async function closeSockets(io: ExchangeServer, graceMs: number): Promise<void> {
  const { clients } = io.engine as unknown as { readonly clients: Readonly<Record<string, Pipe>> };
  const open = Object.values(clients).flatMap(({ transport }) => transport?.socket ?? []);
  const isOver = (): boolean => open.every(({ readyState }) => readyState === CLOSED);
  io.engine.close();
  const giveUpAt = performance.now() + graceMs;
  while (!isOver() && performance.now() < giveUpAt) await sleep(CLOSE_POLL_MS);
  for (const socket of open) socket.terminate();
}
