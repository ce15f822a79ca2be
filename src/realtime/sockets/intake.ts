import type { Allowances } from './allowances';
import type { Callers } from './callers';
import { MESSAGE_MAX_BYTES } from './gateway';
import { ORDER_MESSAGE_MAX_BYTES, type OrderEntry, orderMessageOf } from './order-entry';
import { type ExchangeServer, type ExchangeSocket, webSocketOf } from './sockets';

type Deliver = (data: Buffer, isBinary: boolean) => void;

export interface IntakeOptions extends Pick<Callers, 'addressOf'> {
  readonly allowances: Pick<Allowances, 'watch'>;
  readonly orders: OrderEntry;
}

/** The status with which WebSocket closes a connection for a message that is too large. */
const TOO_LARGE = 1009;
/** The same for one that the exchange does not take. */
const POLICY = 1008;
/** Socket.IO's packet that connects a socket to the default namespace; to another one it is refused anyway. */
const CONNECT = /^40(?:$|\{|\/,)/;
const BEGINNING_BYTES = 4;

/**
 * Looks at every message before the libraries parse it. A connection has one socket, so that limits of connections
 * limit sockets. Messages about orders of a private socket go to the order entry, which limits them as HTTP does. All
 * others are counted, and delivered.
 */
export function takeMessages(io: ExchangeServer, { allowances, orders, addressOf }: IntakeOptions): void {
  io.engine.on('connection', (connection: ExchangeSocket['conn']) => {
    const webSocket = webSocketOf(connection);
    if (!webSocket) return;
    const lane = orders.open(connection, addressOf(connection.request));
    const counting = allowances.watch(connection, () =>
      lane.isPrivate() ? ORDER_MESSAGE_MAX_BYTES : MESSAGE_MAX_BYTES,
    );
    const [deliver] = webSocket.listeners('message') as Deliver[];
    webSocket.removeAllListeners('message');
    let hasSocket = false;
    webSocket.on('message', (data: Buffer, isBinary: boolean) => {
      if (!isBinary && CONNECT.test(data.toString('latin1', 0, BEGINNING_BYTES))) {
        // Socket.IO would make one for each that comes before the first is admitted, and lose all but the last.
        if (hasSocket) return webSocket.close(POLICY);
        hasSocket = true;
      }
      const order = isBinary || !lane.isConnected() ? null : orderMessageOf(data);
      if (order && lane.isPrivate()) {
        counting.passes();
        lane.take(order);
      } else if (data.length > MESSAGE_MAX_BYTES) webSocket.close(TOO_LARGE);
      else if (!counting.admits(data)) return;
      else if (order) lane.take(order);
      else deliver?.call(webSocket, data, isBinary);
    });
  });
}
