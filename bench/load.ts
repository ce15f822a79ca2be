import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** Requests as bytes over keep-alive connections, because on two cores the load takes CPU time from the measured process. */
export interface Load {
  /** Keeps every connection busy until `next` returns no more; resolves when all are answered. */
  flood(next: () => Buffer | null, onAnswer: OnAnswer): Promise<void>;
  /** So many requests a second until `next` returns no more; a request without an idle connection waits. */
  steady(perSecond: number, next: () => Buffer | null, onAnswer: OnAnswer): Promise<void>;
  stop(): void;
}

/** `ms`: since the request was sent. */
export type OnAnswer = (status: number, body: () => string, ms: number) => void;

const TICK_MS = 4;
/** A request without an answer within this time never gets one. */
const ANSWER_MS_MAX = 20_000;

export const readBytes = (path: string): Buffer =>
  Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);

export function requestBytes(path: string, body: string, token?: string): Buffer {
  const bearer = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${bearer}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

interface Line {
  ask(request: Buffer): Promise<{ status: number; body: () => string }>;
  readonly socket: Socket;
}

/** The local address that sends. */
export async function openLoad(port: number, connections: number, from = '127.0.0.1'): Promise<Load> {
  const lines = await Promise.all(Array.from({ length: connections }, () => openLine(port, from)));
  return {
    async flood(next, onAnswer) {
      await Promise.all(
        lines.map(async (line) => {
          for (let request = next(); request; request = next()) {
            const startedAt = performance.now();
            const { status, body } = await line.ask(request);
            onAnswer(status, body, performance.now() - startedAt);
          }
        }),
      );
    },
    async steady(perSecond, next, onAnswer) {
      const idle = [...lines];
      const start = performance.now();
      let failure: unknown;
      const send = async (line: Line, request: Buffer): Promise<void> => {
        try {
          const startedAt = performance.now();
          const { status, body } = await line.ask(request);
          onAnswer(status, body, performance.now() - startedAt);
          idle.push(line);
        } catch (error) {
          failure ??= error;
        }
      };
      for (let count = 0, more = true; more && !failure; ) {
        const due = ((performance.now() - start) * perSecond) / 1_000;
        while (more && count < due) {
          const line = idle.pop();
          if (!line) break;
          const request = next();
          more = request !== null;
          if (request) void send(line, request);
          else idle.push(line);
          count++;
        }
        await wait(TICK_MS);
      }
      // Each line answers or fails within ANSWER_MS_MAX.
      while (idle.length < lines.length && !failure) await wait(TICK_MS);
      if (failure) throw failure;
    },
    stop() {
      for (const { socket } of lines) socket.destroy();
    },
  };
}

async function openLine(port: number, from: string): Promise<Line> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from }).setNoDelay(true);
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let held: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  let settle: ((answer: { status: number; body: () => string } | Error) => void) | null = null;
  socket.on('data', (chunk: Buffer) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const answer = answerIn(held);
    if (!answer) return;
    held = Buffer.alloc(0);
    settle?.(answer);
  });
  socket.on('error', (error) => settle?.(error));
  socket.on('close', () => settle?.(new Error('the server closed the connection')));
  return {
    socket,
    ask: (request) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => settle?.(new Error('no answer')), ANSWER_MS_MAX);
        settle = (answer) => {
          clearTimeout(timer);
          settle = null;
          answer instanceof Error ? reject(answer) : resolve(answer);
        };
        socket.write(request);
      }),
  };
}

/** One whole answer with a Content-Length, which one to HEAD has without a body; null while it is not complete. */
export function answerIn(bytes: Buffer, isHead = false): { status: number; body: () => string } | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const head = bytes.toString('latin1', 0, end);
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  if (!isHead && bytes.length < end + 4 + length) return null;
  return { status: Number(head.slice(9, 12)), body: () => bytes.toString('utf8', end + 4) };
}
