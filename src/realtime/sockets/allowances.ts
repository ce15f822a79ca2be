import { randomUUID } from 'node:crypto';
import { Refusal } from '../../exchange/errors';
import type { Logger } from '../../log';
import { presentAck } from '../../wire/answers/events';
import { orderRefusedAck } from '../../wire/answers/order-entry';
import { SOCKET_LIMITS } from '../../wire/limits';
import type { Callers } from './callers';
import { orderMessageOf } from './order-entry';
import { readAtPace } from './reading';
import { cutConnection, type ExchangeSocket, webSocketOf } from './sockets';

const { messagesPerSecond, bytesPerSecond, refusals: REFUSALS_MAX, pace: PACE } = SOCKET_LIMITS;
export const tooMuch = (): Refusal =>
  new Refusal(
    'RATE_LIMITED',
    `a socket may send ${messagesPerSecond} messages and ${bytesPerSecond / 1_000} kB a second; send more slowly`,
  );
/** An event of the default namespace that requests an acknowledgement: `42`, its number, its arguments. */
const ASKS_FOR_ANSWER = /^42(\d{1,16})\[/;
const BEGINNING = 24;

/** The remaining allowance of one connection. */
interface Allowance {
  /** Returns false when the connection has sent too much already; a refused message costs nothing. */
  take(bytes: number): boolean;
  /** Charges points, even as a debt; returns false and counts nothing for a connection that already has a debt. */
  charge(messages: number): boolean;
}

type Connection = ExchangeSocket['conn'];

export interface Allowances {
  /** Counts what a connection sends before any of it is parsed. */
  watch(connection: Connection, messageMaxBytes: () => number): Counting;
  /** A message may count as several. Returns false when the socket must wait, because messages come faster than allowed. */
  charge(socket: ExchangeSocket, messages: number): boolean;
}

/** The count of one connection. */
export interface Counting {
  /** Returns false for a message beyond the allowance, which is answered here and must be dropped. */
  admits(message: Buffer): boolean;
  /** Counts a message that other limits admit. */
  passes(): void;
}

const UNCOUNTED: Counting = { admits: () => true, passes: () => undefined };

/** Allowances with RATE_LIMIT=off. */
export const noAllowances: Allowances = { watch: () => UNCOUNTED, charge: () => true };

export interface AllowanceOptions extends Callers {
  readonly log: Logger;
}

export function createAllowances({ log, addressOf, pace }: AllowanceOptions): Allowances {
  const allowances = new WeakMap<Connection, Allowance>();
  const addresses = new WeakMap<Connection, string>();

  function watch(connection: Connection, messageMaxBytes: () => number): Counting {
    const allowance = createAllowance();
    const address = addressOf(connection.request);
    allowances.set(connection, allowance);
    addresses.set(connection, address);
    const webSocket = webSocketOf(connection);
    if (!webSocket) return UNCOUNTED;
    let refusals = 0;
    const cut = (why: string): void => {
      pace.charge(address, PACE.cut);
      log.warn({ address }, `a socket was cut ${why}`);
      cutConnection(connection);
    };
    const onNoise = () => cut('that sent frames without messages');
    const reading = readAtPace({ connection, address, pace, messageMaxBytes, onNoise });
    const refuse = (data: Buffer): void => {
      refusals++;
      if (refusals > REFUSALS_MAX) return;
      answer(connection, data);
      if (refusals === REFUSALS_MAX) cut(`after ${REFUSALS_MAX} refusals`);
    };
    const passes = (): void => {
      pace.charge(address, PACE.message);
      reading.heard();
    };
    const admits = (data: Buffer): boolean => {
      passes();
      if (allowance.take(data.length)) return true;
      refuse(data);
      return false;
    };
    // The library itself answers or ignores it, which also costs something.
    webSocket.on('ping', admits);
    webSocket.on('pong', admits);
    return { admits, passes };
  }

  return {
    watch,
    charge: (socket, messages) => {
      const address = addresses.get(socket.conn);
      if (address !== undefined) pace.charge(address, messages * PACE.message);
      return allowances.get(socket.conn)?.charge(messages) ?? true;
    },
  };
}

/** Without parsing the message: an acknowledgement needs only its number. */
function answer(connection: Connection, data: Buffer): void {
  const [, number] = ASKS_FOR_ANSWER.exec(data.toString('latin1', 0, BEGINNING)) ?? [];
  if (number === undefined) return;
  const refusal = tooMuch();
  const body = orderMessageOf(data)
    ? orderRefusedAck(refusal, randomUUID())
    : JSON.stringify(presentAck.refused(refusal.code, refusal.message));
  connection.write(`3${number}[${body}]`);
}

/** A second's worth at once, then as it refills. */
function createAllowance(): Allowance {
  let messages: number = messagesPerSecond;
  let bytes: number = bytesPerSecond;
  let atMs = performance.now();
  return {
    take: (size) => {
      const nowMs = performance.now();
      const seconds = Math.max(0, nowMs - atMs) / 1_000;
      atMs = nowMs;
      messages = Math.min(messagesPerSecond, messages + seconds * messagesPerSecond);
      bytes = Math.min(bytesPerSecond, bytes + seconds * bytesPerSecond);
      if (messages < 1 || bytes < size) return false;
      messages--;
      bytes -= size;
      return true;
    },
    charge: (more) => {
      if (messages < 0) return false;
      messages -= more;
      return true;
    },
  };
}
