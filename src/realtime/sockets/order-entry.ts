import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../exchange/errors';
import { orderRefusedAck } from '../../wire/answers/order-entry';
import { BATCH_MAX_BYTES, SOCKET_LIMITS } from '../../wire/limits';
import { ORDER_EVENTS, type OrderEvent } from '../../wire/requests/order-entry';
import type { Callers } from './callers';
import { allowMessages, type ExchangeSocket, type SocketBearer, sendFrame } from './sockets';

/** A message that does what an HTTP route does. */
export interface OrderMessage {
  readonly event: OrderEvent;
  /** The JSON of its payload. */
  readonly payload: Buffer;
  /** The number that its acknowledgement repeats; empty when none is asked for. */
  readonly number: string;
}

/** Performs a message and gives the JSON of its acknowledgement once; passed in by the composition root. */
export type PerformOrder = (
  request: {
    readonly event: OrderEvent;
    readonly payload: Buffer;
    readonly address: string;
    readonly bearer: SocketBearer | null;
  },
  answer: (status: number, acknowledgement: string) => void,
) => void;

/** The order messages of one connection. */
export interface OrderLane {
  /** The default namespace is connected. */
  isConnected(): boolean;
  /** It has an owner; without one its order messages are limited as its other messages are, and refused. */
  isPrivate(): boolean;
  take(message: OrderMessage): void;
}

export interface OrderEntry {
  open(connection: Connection, address: string): OrderLane;
  /** The connection of this socket may send order messages from now on. */
  serve(socket: ExchangeSocket): void;
  /** Refuses more messages, and waits for the answers to those under way. */
  stop(): Promise<void>;
}

interface OrderEntryOptions {
  readonly perform: PerformOrder;
  readonly pace: Callers['pace'];
}

type Connection = ExchangeSocket['conn'];

interface Lane {
  readonly connection: Connection;
  readonly address: string;
  socket: ExchangeSocket | null;
  underWay: number;
}

/** A batch, its market and its name. */
export const ORDER_MESSAGE_MAX_BYTES = BATCH_MAX_BYTES + 1_024;
const { ordersUnderWay: UNDER_WAY_MAX, pace: PACE } = SOCKET_LIMITS;
/** Longer than the answer to any order takes. */
const STOP_MAX_MS = 3_000;
const STOP_POLL_MS = 10;
/** An event of the default namespace with the name of an order message: `42`, the number of its acknowledgement, its arguments. */
const ORDER_FRAME = new RegExp(`^42(?:/,)?(\\d{0,16})\\[\\s*"(${ORDER_EVENTS.join('|')})"\\s*([,\\]])`);
const BEGINNING_BYTES = 64;
const CLOSING_BRACKET = 0x5d;
const NOTHING = Buffer.alloc(0);

/** Null for any other message. The payload is not parsed: HTTP's strict parser reads the same bytes. */
export function orderMessageOf(data: Buffer): OrderMessage | null {
  const match = ORDER_FRAME.exec(data.toString('latin1', 0, BEGINNING_BYTES));
  if (!match || data.at(-1) !== CLOSING_BRACKET) return null;
  const [beginning, number = '', event, next] = match;
  const payload = next === ',' ? data.subarray(beginning.length, -1) : NOTHING;
  return { event: event as OrderEvent, number, payload };
}

/**
 * Order messages that reach Socket.IO itself: of a form that no client writes, such as with attachments, or with other spaces than
 * between the parts. docs/use/real-time.md lists them.
 */
export async function refuseForm(_: unknown, __: unknown, answer: (body: unknown) => void): Promise<void> {
  const detail =
    'write an order message as 42, a number of at most 16 digits, then ["name",payload] with the name unescaped and nothing behind it';
  answer(JSON.parse(orderRefusedAck(new Refusal('INVALID_REQUEST', detail), randomUUID())));
}

/** Order messages, performed as they come, at most UNDER_WAY_MAX of a socket at once. */
export function createOrderEntry({ perform, pace }: OrderEntryOptions): OrderEntry {
  const lanes = new WeakMap<Connection, Lane>();
  let isOpen = true;
  let underWay = 0;

  function refusalOf({ underWay: mine }: Lane): Refusal | null {
    if (!isOpen) return new Refusal('UNAVAILABLE', 'this process is shutting down; connect again');
    if (mine < UNDER_WAY_MAX) return null;
    const detail = `this socket has ${UNDER_WAY_MAX} order messages without an answer; wait for the answers`;
    return new Refusal('RATE_LIMITED', detail, { scope: 'sockets' });
  }

  function take(lane: Lane, { event, payload, number }: OrderMessage): void {
    const { connection, address } = lane;
    const answer = (status: number, acknowledgement: string): void => {
      if (status >= 400) pace.charge(address, status === 429 ? PACE.rateLimited : PACE.refused);
      if (number !== '') sendFrame(connection, `43${number}[${acknowledgement}]`);
    };
    const refusal = refusalOf(lane);
    if (refusal) {
      answer(refusal.status, orderRefusedAck(refusal, randomUUID()));
      return;
    }
    lane.underWay++;
    underWay++;
    const bearer = lane.socket?.data.bearer ?? null;
    perform({ event, payload, address, bearer }, (status, acknowledgement) => {
      lane.underWay--;
      underWay--;
      answer(status, acknowledgement);
    });
  }

  return {
    open(connection, address) {
      const lane: Lane = { connection, address, socket: null, underWay: 0 };
      lanes.set(connection, lane);
      return {
        isPrivate: () => lane.socket?.connected === true && lane.socket.data.bearer !== null,
        isConnected: () => lane.socket?.connected === true,
        take: (message) => take(lane, message),
      };
    },
    serve(socket) {
      const lane = lanes.get(socket.conn);
      if (!lane) return;
      lane.socket = socket;
      if (socket.data.bearer) allowMessages(socket.conn, ORDER_MESSAGE_MAX_BYTES);
    },
    async stop() {
      isOpen = false;
      const giveUpAt = performance.now() + STOP_MAX_MS;
      while (underWay > 0 && performance.now() < giveUpAt) await sleep(STOP_POLL_MS);
    },
  };
}
