import type { OrderEvent } from '../../src/wire/requests/order-entry';
import type { Answer, Client, Sent } from './client';
import { type Listener, listen } from './listener';
import { heard } from './watch';

/** Order messages as texts, because a library writes no member twice; and HTTP requests as order messages. */
export interface OrderLane {
  readonly listener: Listener;
  /** `payload` is JSON, or what is sent in its place; empty for none. */
  send(event: OrderEvent, payload: string): Promise<Answer>;
  /** Without asking for an acknowledgement. */
  tell(event: OrderEvent, payload: string): void;
  close(): void;
}

/** Socket.IO counts its own acknowledgements from 0. */
const FIRST_NUMBER = 1_000_000;
const ACKNOWLEDGEMENT = /^3(\d+)\[(.*)\]$/s;

export async function openLane(
  url: string,
  token?: string,
  options?: Parameters<typeof listen>[2],
): Promise<OrderLane> {
  const listener = await listen(url, token === undefined ? {} : { token }, options);
  const { engine } = listener.socket.io;
  const waiting = new Map<string, [event: string, resolve: (answer: Answer) => void]>();
  let number = FIRST_NUMBER;
  engine.on('message', (message: unknown) => {
    const [, which = '', text = ''] = ACKNOWLEDGEMENT.exec(String(message)) ?? [];
    const [event, resolve] = waiting.get(which) ?? [];
    waiting.delete(which);
    if (event === undefined || !resolve) return;
    heard('ack', event, text);
    const { status, body, headers } = JSON.parse(text);
    resolve({ status, body, headers: new Headers(headers), text: JSON.stringify(body) });
  });
  const frame = (mark: string, event: string, payload: string): void =>
    void engine.write(`2${mark}["${event}"${payload === '' ? '' : `,${payload}`}]`);
  return {
    listener,
    send: (event, payload) =>
      new Promise((resolve, reject) => {
        // Otherwise each message after a disconnect would wait for the limit of its test.
        if (!listener.socket.connected) throw new Error(`${event}: the socket is not connected`);
        const mark = String(number++);
        waiting.set(mark, [event, resolve]);
        listener.socket.once('disconnect', (why) => reject(new Error(`${event}: ${why}`)));
        frame(mark, event, payload);
      }),
    tell: (event, payload) => frame('', event, payload),
    close: listener.close,
  };
}

const ROUTES: readonly (readonly [RegExp, OrderEvent])[] = [
  [/^\/markets\/([^/?]+)\/orders$/, 'order:submit'],
  [/^\/markets\/([^/?]+)\/orders\/batch$/, 'orders:submit'],
  [/^\/markets\/([^/?]+)\/orders\/cancel$/, 'order:cancel'],
  [/^\/markets\/([^/?]+)\/orders\/([^/?]+)\/replace$/, 'order:replace'],
  [/^\/markets\/([^/?]+)\/orders\/cancel-all$/, 'orders:cancel'],
  [/^\/orders\/()([^/?]+)\/cancel$/, 'order:cancel'],
  [/^\/orders\/cancel$/, 'orders:cancel'],
  [/^\/me\/orders\/cancel-all$/, 'orders:cancel'],
];

/** The order message of an HTTP request; null for one that has none. */
export function messageFor(
  method: string,
  target: string,
  { body, raw }: Sent = {},
): readonly [event: OrderEvent, payload: string] | null {
  const [path = '', query = ''] = target.split('?');
  const found = ROUTES.flatMap(([pattern, event]) => {
    const match = pattern.exec(path);
    return match ? [[event, match] as const] : [];
  })[0];
  if (method !== 'POST' || !found || (query !== '' && !/^dryRun=(true|false)$/.test(query))) return null;
  const [event, [, marketId, orderHash]] = found;
  const text = raw === undefined ? JSON.stringify(body ?? {}) : String(raw);
  const members = JSON.stringify({
    ...(!marketId ? {} : { marketId: decodeURIComponent(marketId) }),
    ...(orderHash === undefined ? {} : { orderHash: decodeURIComponent(orderHash) }),
    ...(path === '/me/orders/cancel-all' ? { all: true } : {}),
    ...(query === '' ? {} : { dryRun: query === 'dryRun=true' }),
  }).slice(1, -1);
  if (!text.startsWith('{') || members === '') return [event, text];
  const rest = text.slice(1);
  return [event, `{${members}${/^\s*\}/.test(rest) ? '' : ','}${rest}`];
}

/** A client whose requests about orders are messages of the lane; all others go by HTTP. */
export function laneClient(client: Client, lane: OrderLane): Client {
  const call = async (method: string, path: string, sent?: Sent): Promise<Answer> => {
    const message = messageFor(method, path, sent);
    return message ? lane.send(...message) : client.call(method, path, sent);
  };
  return {
    url: client.url,
    call,
    get: (path, sent) => call('GET', path, sent),
    post: (path, sent) => call('POST', path, sent),
  };
}
