import { heard } from './watch';

/**
 * The tests' socket.io-client (jest.config.js): the package itself, whose sockets compare received messages with the
 * AsyncAPI document.
 */
const client =
  require('../../node_modules/socket.io-client/build/cjs/index.js') as typeof import('socket.io-client');

interface Packet {
  readonly type: number;
  readonly id?: number;
  readonly data?: readonly unknown[];
}
interface Internals {
  onevent(packet: Packet): void;
  onack(packet: Packet): void;
  packet(packet: Packet): void;
}

const EVENT = 2;
/** For each socket, what the acknowledgement with this id answers. */
const asked = new WeakMap<object, Map<number, string>>();

const textOf = ([payload]: readonly unknown[]): string | undefined => JSON.stringify(payload);

const sockets = client.Socket.prototype as unknown as Internals;
const { onevent, onack, packet: send } = sockets;

sockets.onevent = function (this: Internals, packet) {
  const [event, ...payload] = packet.data ?? [];
  heard('event', String(event), textOf(payload));
  onevent.call(this, packet);
};
sockets.onack = function (this: Internals, packet) {
  const event = asked.get(this)?.get(packet.id ?? -1);
  if (event !== undefined) heard('ack', event, textOf(packet.data ?? []));
  onack.call(this, packet);
};
sockets.packet = function (this: Internals, packet) {
  if (packet.type === EVENT && packet.id !== undefined) {
    const events = asked.get(this) ?? new Map<number, string>();
    asked.set(this, events.set(packet.id, String(packet.data?.[0])));
  }
  send.call(this, packet);
};

module.exports = client;
