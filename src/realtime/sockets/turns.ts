import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { PIPELINED_MAX } from '../../wire/limits';

/** The turns of the requests of one connection. */
export interface Turns {
  /** Serves a request, at most PIPELINED_MAX of a connection at once; the connection is not read beyond them. */
  serve(request: IncomingMessage, response: ServerResponse): void;
  /** Calls back when all requests of the connection are answered; never when the connection ends before. */
  whenQuiet(socket: Duplex, then: () => void): void;
}

interface Line {
  underWay: number;
  /** Requests that were read together with those before them. */
  readonly waiting: (() => void)[];
  quiet: (() => void) | null;
}

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

export function createTurns(serve: Serve): Turns {
  const lines = new WeakMap<Duplex, Line>();

  function lineOf(socket: Duplex): Line {
    const known = lines.get(socket);
    if (known) return known;
    const line: Line = { underWay: 0, waiting: [], quiet: null };
    lines.set(socket, line);
    return line;
  }

  function begin(line: Line, request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    line.underWay++;
    response.on('close', () => {
      line.underWay--;
      if (socket.destroyed) line.waiting.length = 0;
      const next = line.waiting.shift();
      if (next) next();
      else hold(socket, false);
      if (line.underWay === 0) line.quiet?.();
    });
    serve(request, response);
  }

  return {
    serve(request, response) {
      const line = lineOf(request.socket);
      if (line.underWay < PIPELINED_MAX) {
        begin(line, request, response);
        return;
      }
      hold(request.socket, true);
      line.waiting.push(() => begin(line, request, response));
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
