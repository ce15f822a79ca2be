import { io } from 'socket.io-client';

/**
 * A private socket that sends order messages as texts: a library would write each order again. It does not ask for the events of
 * its wallet, unless `accountEvents` says so.
 */
export interface OrderLane {
  send(event: string, payload: string): Promise<{ status: number; text: string }>;
  stop(): void;
}

const ACKNOWLEDGEMENT = /^3(\d+)\[\{"status":(\d+),/;

export async function openOrderLane(port: number, token: string, accountEvents = false): Promise<OrderLane> {
  const socket = io(`http://127.0.0.1:${port}`, {
    transports: ['websocket'],
    forceNew: true,
    reconnection: false,
    auth: { token, accountEvents },
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('connect_error', reject);
  });
  const { engine } = socket.io;
  const waiting = new Map<string, (answer: { status: number; text: string }) => void>();
  let count = 0;
  engine.on('message', (message: unknown) => {
    const text = String(message);
    const [, number = '', status] = ACKNOWLEDGEMENT.exec(text) ?? [];
    waiting.get(number)?.({ status: Number(status), text });
    waiting.delete(number);
  });
  return {
    send: (event, payload) =>
      new Promise((resolve) => {
        const number = String(count++);
        waiting.set(number, resolve);
        engine.write(`2${number}["${event}",${payload}]`);
      }),
    stop: () => socket.disconnect(),
  };
}
