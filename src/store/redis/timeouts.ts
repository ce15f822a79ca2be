import type { Socket } from 'node:net';
import { Command, Redis } from 'ioredis';

/**
 * Node runs its timers before it reads its sockets. After a pause of this process (SIGSTOP, a frozen container, a busy
 * machine) every time limit is over while the replies wait in the sockets, and ioredis would fail commands that were
 * answered in time. Here the sockets are read once more before a limit of ioredis counts.
 *
 * ioredis 6 has no setting for that, so the two methods that start its timers are replaced, with the same fields
 * (ioredis: lib/Command.ts setTimeout, lib/Redis.ts setSocketTimeout). test/store/patience.test.ts fails when they move.
 */
interface TimedCommand {
  _commandTimeoutTimer?: NodeJS.Timeout;
  isSettled: boolean;
  reject(error: Error): void;
}

const commands = Command.prototype as unknown as { setTimeout(ms: number): void };
commands.setTimeout = function startLimit(this: TimedCommand, ms: number): void {
  this._commandTimeoutTimer ??= setTimeout(afterReading, ms, this);
};

function afterReading(command: TimedCommand): void {
  if (!command.isSettled) setImmediate(giveUp, command);
}
function giveUp(command: TimedCommand): void {
  if (!command.isSettled) command.reject(new Error('Command timed out'));
}

interface TimedClient {
  socketTimeoutTimer: NodeJS.Timeout | undefined;
  readonly stream: Socket;
  readonly options: { readonly socketTimeout: number };
  readonly commandQueue: { readonly length: number };
  setSocketTimeout(): void;
}

const clients = Redis.prototype as unknown as { setSocketTimeout(): void };
clients.setSocketTimeout = function startSilence(this: TimedClient): void {
  const { stream } = this;
  const timer = setTimeout(() => setImmediate(close), this.options.socketTimeout);
  this.socketTimeoutTimer = timer;
  const close = () => {
    if (this.socketTimeoutTimer !== timer) return;
    this.socketTimeoutTimer = undefined;
    stream.destroy(new Error(`no data from Redis for ${this.options.socketTimeout} ms`));
  };
  // After the client's own listener, so that the answered commands have left the queue.
  stream.once('data', () => {
    clearTimeout(timer);
    this.socketTimeoutTimer = undefined;
    if (this.commandQueue.length > 0) this.setSocketTimeout();
  });
};
