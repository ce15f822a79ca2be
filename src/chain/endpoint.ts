import { BadAnswer, readObject } from './hex';
import { type Aside, createHealthRecord, type HealthRecord, LATE_MS } from './node-health';
import { createPost } from './post';

/** How long a request is waited for. */
export interface Times {
  /** After this time the request is over. */
  readonly limitMs: number;
  /** The answer is not needed any more, because others have answered. */
  readonly over?: AbortSignal;
}

/** One node, by JSON-RPC over HTTP. */
export interface Endpoint {
  /** Host and place in the list: a URL may contain a key, so it is never shown. */
  readonly name: string;
  /** Rejects with an RpcError when the node refuses, with an RpcUnavailable when it does not answer. */
  send(method: string, params: readonly unknown[], times: Times): Promise<unknown>;
  readonly health: HealthRecord;
  /** Ends every request under way, and begins no other. */
  stop(): void;
}

/** The node answered with an error. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    /** The data of a revert, as hex; null without data. */
    readonly data: string | null,
  ) {
    super(message);
  }
  /** A revert is what the contract says, so it does not depend on the node. */
  get isRevert(): boolean {
    return this.code === REVERT_CODE || this.message.startsWith('execution reverted');
  }
  /** Nodes have no common code for it. */
  get isOutOfGas(): boolean {
    return OUT_OF_GAS.test(this.message);
  }
}

/** No node answered. */
export class RpcUnavailable extends Error {}

const REVERT_CODE = 3;
const OUT_OF_GAS = /out ?of ?gas/i;
const STOPPED = new Error('the client has stopped');
/** The most requests of this process at one node; the others wait for their turn. A slow node has all blocks of a minute at once. */
const IN_FLIGHT_MAX = 128;
const WAITING_MAX = 2_000;

interface EndpointOptions {
  readonly url: string;
  /** Its place in the list. */
  readonly index: number;
  readonly patience: number;
  /** Called when the node is set aside, and with null when it no longer is. */
  readonly onAside: (node: string, why: Aside | null) => void;
}

export function createEndpoint({ url, index, patience, onAside }: EndpointOptions): Endpoint {
  const address = new URL(url);
  const name = `${address.host} (${index + 1})`;
  const turns = createTurns();
  const post = createPost(address);
  /** Aborts the requests under way. */
  const under = new Set<AbortController>();
  let isStopped = false;
  const health = createHealthRecord((why) => onAside(name, why));
  const isLate = (sinceMs: number): boolean => performance.now() - sinceMs >= LATE_MS * patience;

  /** One limit for the turn and the answer. The end is one plain timer: signals made of others cost more than the request. */
  function begin(limitMs: number, over: AbortSignal | undefined) {
    const ending = new AbortController();
    const leave = (): void => ending.abort(over?.reason);
    const timer = setTimeout(() => ending.abort(new Error('it took too long')), limitMs).unref();
    if (isStopped) ending.abort(STOPPED);
    if (over?.aborted) leave();
    over?.addEventListener('abort', leave, { once: true });
    under.add(ending);
    const end = (): void => {
      clearTimeout(timer);
      over?.removeEventListener('abort', leave);
      under.delete(ending);
    };
    return { signal: ending.signal, end };
  }

  async function send(method: string, params: readonly unknown[], times: Times): Promise<unknown> {
    const { signal, end } = begin(times.limitMs * patience, times.over);
    try {
      return await sendWithin(signal, method, params, times);
    } finally {
      end();
    }
  }

  async function sendWithin(
    signal: AbortSignal,
    method: string,
    params: readonly unknown[],
    { over }: Times,
  ): Promise<unknown> {
    // The time of the asker begins before the wait for a turn, and the node is late by that time.
    const askedAt = performance.now();
    const end = await turns.begin(signal).catch((error: unknown) => {
      throw new RpcUnavailable(`${name} did not take ${method}: ${causeOf(error)}`);
    });
    const startedAt = performance.now();
    const noteAnswer = (): void => health.answered(performance.now() - startedAt, !isLate(askedAt));
    try {
      const { status, text } = await post.send(
        JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        signal,
      );
      const result = resultOf(parsed(text, status));
      noteAnswer();
      return result;
    } catch (error) {
      if (error instanceof RpcError) {
        noteAnswer();
        throw error;
      }
      if (!over?.aborted) health.failed('FAILS');
      else if (isLate(askedAt)) health.failed('LATE');
      throw new RpcUnavailable(`${name} did not answer ${method}: ${causeOf(error)}`);
    } finally {
      end();
    }
  }

  return {
    name,
    send,
    health,
    stop() {
      isStopped = true;
      for (const ending of under) ending.abort(STOPPED);
      post.stop();
    },
  };
}

function parsed(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`HTTP ${status} without JSON`);
  }
}

function resultOf(answer: unknown): unknown {
  const body = readObject(answer, 'answer');
  if (body.error !== undefined && body.error !== null) throw errorOf(readObject(body.error, 'error'));
  if (body.result === undefined) throw new BadAnswer('answer');
  return body.result;
}

function errorOf({ code, message, data }: Readonly<Record<string, unknown>>): RpcError {
  const hex = typeof data === 'string' && data.startsWith('0x') ? data.toLowerCase() : null;
  return new RpcError(typeof code === 'number' ? code : 0, String(message ?? 'an error without text'), hex);
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A host with several addresses, none of which answers, has no text of its own.
  return error.message || String((error as { code?: unknown }).code);
}

/** At most IN_FLIGHT_MAX at once, in the order in which they came; a request whose time is over leaves the queue. */
function createTurns(): { begin(signal: AbortSignal): Promise<() => void> } {
  const waiting = new Set<() => void>();
  let inFlight = 0;
  const end = (): void => {
    const [next] = waiting;
    if (next) next();
    else inFlight--;
  };
  const turnOf = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const take = (): void => {
        waiting.delete(take);
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        waiting.delete(take);
        reject(signal.reason);
      };
      waiting.add(take);
      signal.addEventListener('abort', leave, { once: true });
    });
  return {
    async begin(signal) {
      signal.throwIfAborted();
      if (inFlight < IN_FLIGHT_MAX) inFlight++;
      else if (waiting.size >= WAITING_MAX) throw new Error('too many requests wait');
      else await turnOf(signal);
      return end;
    },
  };
}
