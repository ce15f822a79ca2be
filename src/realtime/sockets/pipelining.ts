import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { PIPELINED_MAX, PIPELINED_WAITING_MAX } from '../../wire/limits';

/** The turns of the requests of one connection. */
export interface Pipelining {
  /**
   * Serves a request, at most PIPELINED_MAX of a connection at once; the connection is not read beyond them. One with more than
   * PIPELINED_WAITING_MAX that were read together is ended.
   */
  serve(request: IncomingMessage, response: ServerResponse): void;
  /** Calls back when all requests of the connection are answered; never when the connection ends before. */
  whenQuiet(socket: Duplex, then: () => void): void;
}

interface Line {
  underWay: number;
  /** Requests that were read together with those before them. */
  readonly waiting: (readonly [IncomingMessage, ServerResponse])[];
  quiet: (() => void) | null;
}

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

export interface PipeliningEvents {
  /** A request waits for those before it. */
  waits(request: IncomingMessage): void;
  /** Too many do, and the connection is ended. */
  dropped(request: IncomingMessage): void;
}

export function createPipelining(serve: Serve, { waits, dropped }: PipeliningEvents): Pipelining {
  const lines = new WeakMap<Duplex, Line>();

  function lineOf(socket: Duplex): Line {
    const known = lines.get(socket);
    if (known) return known;
    const line: Line = { underWay: 0, waiting: [], quiet: null };
    lines.set(socket, line);
    // Before the listener of Node.
    socket.prependListener('close', () => forget(line));
    return line;
  }

  function begin(line: Line, request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    line.underWay++;
    response.on('close', () => {
      line.underWay--;
      const next = socket.destroyed ? undefined : line.waiting.shift();
      if (next) begin(line, ...next);
      else hold(socket, false);
      if (line.underWay === 0) line.quiet?.();
    });
    serve(request, response);
  }

  /** Node would end each of them with an error, whose stack costs more than the request. */
  function forget({ waiting }: Line): void {
    for (const [request] of waiting.splice(0)) request.destroy();
  }

  function wait(line: Line, request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    if (line.waiting.length >= PIPELINED_WAITING_MAX) {
      dropped(request);
      request.destroy();
      return;
    }
    waits(request);
    hold(socket, true);
    line.waiting.push([request, response]);
  }

  return {
    serve(request, response) {
      const { socket } = request;
      // Node goes on with what it has read of a connection that has ended.
      if (socket.destroyed) {
        request.destroy();
        return;
      }
      const line = lineOf(socket);
      if (line.underWay < PIPELINED_MAX) begin(line, request, response);
      else wait(line, request, response);
    },
    whenQuiet(socket, then) {
      const line = lineOf(socket);
      if (line.underWay === 0) {
        then();
        return;
      }
      line.quiet = () => {
        line.quiet = null;
        then();
      };
    },
  };
}

/** Stops reading from a connection, because Node would otherwise read on as soon as a handler looks at a request's body. */
function hold(socket: Duplex, on: boolean): void {
  if (Object.hasOwn(socket, 'resume') === on) return;
  if (on) {
    socket.pause();
    socket.resume = () => socket;
    return;
  }
  Reflect.deleteProperty(socket, 'resume');
  if (!socket.destroyed) socket.resume();
}
