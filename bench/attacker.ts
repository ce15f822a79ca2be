import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { io } from 'socket.io-client';
import { answerIn } from './load';

/**
 * One hostile address, in a process of its own: it sends the same requests repeatedly on many connections, each as soon
 * as the one before is answered, until its parent stops it. A connection that is closed is opened again.
 */
export interface Attack {
  readonly port: number;
  readonly connections: number;
  /** Raw HTTP requests, sent in turn. */
  readonly requests?: readonly Buffer[];
  /** Instead: a beginning, and bytes that follow it for as long as the server reads, without waiting for an answer. */
  readonly stream?: { readonly head: Buffer; readonly more: Buffer };
  /** Instead: the events of each socket, or a raw packet. */
  readonly socket?: {
    readonly event: string;
    readonly message: unknown;
    readonly packet?: string;
    readonly everyMs: number;
  };
}

export interface Damage {
  readonly sent: number;
  readonly refused: number;
  readonly reconnects: number;
}

const RECONNECT_MS = 5;
const ANSWER_MS_MAX = 20_000;
const HEAD = Buffer.from('HEAD ');

const state = { stopped: false, next: 0, sent: 0, refused: 0, reconnects: 0 };

async function http({ port, requests = [], stream }: Attack): Promise<void> {
  while (!state.stopped) {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    await (stream ? pour(socket, stream) : ask(socket, requests)).catch(() => undefined);
    socket.destroy();
    state.reconnects++;
    await wait(RECONNECT_MS);
  }
}

/** Ends when the connection does. */
function pour(socket: Socket, { head, more }: NonNullable<Attack['stream']>): Promise<void> {
  return new Promise((resolve) => {
    const write = (): void => {
      if (state.stopped) {
        resolve();
        return;
      }
      state.sent++;
      socket.write(more, (error) => void (error ? resolve() : setImmediate(write)));
    };
    socket.once('connect', () => {
      socket.write(head);
      write();
    });
    socket.on('error', () => undefined).on('data', () => undefined);
    socket.once('close', () => resolve());
  });
}

/** Ends when the connection does. */
function ask(socket: Socket, requests: readonly Buffer[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let held: Buffer<ArrayBufferLike> = Buffer.alloc(0);
    let isHead = false;
    const send = (): void => {
      if (state.stopped) {
        resolve();
        return;
      }
      state.sent++;
      const request = requests[state.next++ % requests.length] as Buffer;
      isHead = request.subarray(0, HEAD.length).equals(HEAD);
      socket.write(request);
    };
    socket.setTimeout(ANSWER_MS_MAX, () => reject(new Error('no answer')));
    socket.once('connect', send);
    socket.on('data', (chunk: Buffer) => {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const answer = answerIn(held, isHead);
      if (!answer) return;
      held = Buffer.alloc(0);
      if (answer.status === 429 || answer.status === 503) state.refused++;
      send();
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed')));
  });
}

async function sockets({ port, socket }: Attack): Promise<void> {
  if (!socket) return;
  const { event, message, packet, everyMs } = socket;
  const client = io(`http://127.0.0.1:${port}`, {
    transports: ['websocket'],
    reconnectionDelay: RECONNECT_MS,
    reconnectionDelayMax: RECONNECT_MS,
    forceNew: true,
  });
  client.on('disconnect', () => {
    state.reconnects++;
    // A socket that the server disconnected does not reconnect by itself.
    setTimeout(() => state.stopped || client.connect(), RECONNECT_MS);
  });
  while (!state.stopped) {
    if (client.connected) {
      state.sent++;
      if (packet !== undefined) client.io.engine.write(packet);
      else client.emit(event, message, (answer?: { ok?: boolean }) => void (answer?.ok || state.refused++));
    }
    await wait(everyMs);
  }
  client.disconnect();
}

process.on('message', (told: Attack | 'stop') => {
  if (told === 'stop') {
    state.stopped = true;
    const { sent, refused, reconnects } = state;
    process.send?.({ sent, refused, reconnects } satisfies Damage);
    setTimeout(() => process.exit(0), 50);
    return;
  }
  const run = told.socket ? sockets : http;
  for (let i = 0; i < told.connections; i++) void run(told);
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: 0 });
