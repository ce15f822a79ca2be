import { io, type Socket } from 'socket.io-client';
import type { Answer, Client } from '../support/client';
import { messageFor } from '../support/order-lane';
import type { Person } from './people';

/** Longer than the exchange takes for any answer. */
const ANSWER_MS = 6_000;

/** Private sockets of wallets to replicas: each connects with the latest token of its wallet, and again when it is lost. */
export interface OrderSockets {
  /** A client whose requests about orders go over the wallet's socket to the same replica, if that is connected. */
  clientOf(person: Person, client: Client): Client;
  /** How many requests got their answer over a socket. */
  answers(): number;
  close(): void;
}

export function createOrderSockets(): OrderSockets {
  const sockets = new Map<string, Socket>();
  let answers = 0;

  function socketOf(person: Person, { url }: Client): Socket {
    const name = `${person.address} ${url}`;
    const known = sockets.get(name);
    if (known) return known;
    const auth = (answer: (sent: object) => void) => answer({ token: person.token });
    const socket = io(url, { transports: ['websocket'], forceNew: true, auth, reconnectionDelayMax: 1_000 });
    // Socket.IO does not come back by itself when the exchange closed the socket or refused it.
    const comeBack = (): void => void setTimeout(() => socket.connect(), 500).unref();
    socket.on('disconnect', (why) => why === 'io server disconnect' && comeBack());
    socket.on('connect_error', () => socket.active || comeBack());
    sockets.set(name, socket);
    return socket;
  }

  async function send(socket: Socket, event: string, payload: string): Promise<Answer> {
    const { status, body, headers } = await socket.timeout(ANSWER_MS).emitWithAck(event, JSON.parse(payload));
    answers++;
    return { status, body, headers: new Headers(headers), text: JSON.stringify(body) };
  }

  return {
    clientOf(person, client) {
      const call: Client['call'] = (method, path, sent) => {
        const message = messageFor(method, path, sent);
        if (!message) return client.call(method, path, sent);
        const socket = socketOf(person, client);
        return socket.connected ? send(socket, ...message) : client.call(method, path, sent);
      };
      return {
        url: client.url,
        call,
        get: (path, sent) => call('GET', path, sent),
        post: (path, sent) => call('POST', path, sent),
      };
    },
    answers: () => answers,
    close() {
      for (const socket of sockets.values()) {
        socket.removeAllListeners();
        socket.disconnect();
      }
    },
  };
}
