import { setTimeout as sleep } from 'node:timers/promises';
import {
  createEndpoint,
  type Endpoint,
  type EndpointHealth,
  noteContradiction,
  noteFailure,
  RpcError,
  RpcUnavailable,
  type Times,
} from './endpoint';
import { BadAnswer } from './hex';

/** Takes from an answer what the caller uses, as plain JSON; throws BadAnswer when it is not there. */
export type Reader<T> = (answer: unknown) => T;

/** Too few nodes gave the same answer. */
export class RpcDisagreement extends Error {}

export interface NodeAnswer {
  readonly endpoint: string;
  /** The result; or why there is none. */
  readonly result: unknown;
  readonly error: Error | null;
}

/** Several nodes, none of which is trusted alone. */
export interface Rpc {
  /** The answer of one node: the next one is asked when the first does not answer, or with an error that is no revert. */
  ask<T>(method: string, params: readonly unknown[], read: Reader<T>, timeoutMs?: number): Promise<T>;
  /**
   * The answer that two nodes give, or the only one when there is only one. `null` means "unknown", which a node that lags
   * behind also says: it counts only when no two nodes agree on something else. With a limit, nodes that are late for
   * `timeoutMs` are waited for until then, while others are asked.
   */
  agree<T>(
    method: string,
    params: readonly unknown[],
    read: Reader<T>,
    timeoutMs?: number,
    limitMs?: number,
  ): Promise<T>;
  /** The answer of every node, for what each should know or do; it never rejects. */
  askAll(method: string, params: readonly unknown[], timeoutMs?: number): Promise<readonly NodeAnswer[]>;
  /**
   * The same of the nodes that answered lately, or of every node while fewer than the quorum do in time. Nodes that are late are
   * waited for until the limit, but only while fewer than the quorum have answered.
   */
  askHealthy(
    method: string,
    params: readonly unknown[],
    timeoutMs: number,
    limitMs: number,
  ): Promise<readonly NodeAnswer[]>;
  /** How many nodes must say the same: 2, or 1 when there is only one. */
  readonly quorum: number;
  health(): readonly (EndpointHealth & { readonly name: string })[];
  /** Ends every request under way. */
  stop(): void;
}

/** A limit for what the books need: they move on with nodes that take ten seconds for an answer. */
export const SLOW_MS = 15_000;
const TIMEOUT_MS = 2_000;
const ATTEMPTS_MAX = 3;
const QUORUM = 2;
/** Given to `abort`, which makes an exception each time when it gets no reason. */
const OVER = new Error('the answer is not needed any more');

/** `patience`: every time-out is so many times as long, for nodes on a busy machine. */
export function createRpc(urls: readonly string[], patience = 1): Rpc {
  const endpoints = urls.map((url, i) => createEndpoint({ url, index: i, patience }));
  let isStopped = false;
  const quorum = Math.min(QUORUM, endpoints.length);

  async function ask<T>(
    method: string,
    params: readonly unknown[],
    read: Reader<T>,
    timeoutMs = TIMEOUT_MS,
  ): Promise<T> {
    const order = byHealth(endpoints);
    let last: Error = new RpcUnavailable('no node is configured');
    for (let attempt = 0; attempt < ATTEMPTS_MAX && !isStopped; attempt++) {
      const endpoint = order[attempt % order.length];
      if (!endpoint) break;
      const times = { lateMs: timeoutMs, limitMs: timeoutMs };
      const { value, error } = await one(endpoint, method, params, read, times);
      if (error === null) return value as T;
      if (error instanceof RpcError && (error.isRevert || order.length === 1)) throw error;
      last = error;
    }
    throw last;
  }

  async function late(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const endMs = performance.now() + timeoutMs * patience;
    // In a busy process a timer ends early, and a node is late only after its time.
    for (let left = timeoutMs * patience; left > 0 && !signal.aborted; left = endMs - performance.now())
      await sleep(Math.ceil(left), undefined, { signal, ref: false }).catch(() => undefined);
  }

  async function agree<T>(
    method: string,
    params: readonly unknown[],
    read: Reader<T>,
    timeoutMs = TIMEOUT_MS,
    limitMs = timeoutMs,
  ): Promise<T> {
    const order = byHealth(endpoints);
    const ballot = createBallot<T>(quorum);
    const ended = new AbortController();
    const times = { lateMs: timeoutMs, limitMs, over: ended.signal };
    const decided = createGate();
    const vote = async (endpoint: Endpoint): Promise<void> => {
      ballot.add(endpoint, await one(endpoint, method, params, read, times));
      if (ballot.known()) decided.open();
    };
    const votes: Promise<void>[] = [];
    for (const some of [order.slice(0, quorum), ...order.slice(quorum).map((endpoint) => [endpoint])]) {
      votes.push(...some.map(vote));
      const inTime = limitMs > timeoutMs ? [late(timeoutMs, ended.signal)] : [];
      await Promise.race([Promise.all(votes), decided.passed, ...inTime]);
      if (ballot.known()) break;
    }
    if (!ballot.known() && !ballot.unknown()) await Promise.race([Promise.all(votes), decided.passed]);
    ended.abort(OVER);
    const winner = ballot.known() ?? ballot.unknown();
    if (winner === null) throw ballot.problem(method);
    ballot.blame(winner);
    if (winner.error) throw winner.error;
    return winner.value as T;
  }

  async function askHealthy(
    method: string,
    params: readonly unknown[],
    timeoutMs: number,
    limitMs: number,
  ): Promise<readonly NodeAnswer[]> {
    const awake = endpoints.filter((endpoint) => !rests(endpoint));
    const first = awake.length < quorum ? endpoints : awake;
    const ended = new AbortController();
    const times = { lateMs: timeoutMs, limitMs, over: ended.signal };
    const enough = createGate();
    let answered = 0;
    const send = async (endpoint: Endpoint): Promise<NodeAnswer> => {
      const answer = await askOne(endpoint, method, params, times);
      if (answer.error === null && ++answered >= quorum) enough.open();
      return answer;
    };
    const asked = first.map(send);
    await Promise.race([Promise.all(asked), late(timeoutMs, ended.signal)]);
    if (answered < quorum) {
      asked.push(...endpoints.filter((endpoint) => !first.includes(endpoint)).map(send));
      await Promise.race([Promise.all(asked), enough.passed]);
      // The first answers may be those of nodes that lag behind.
      await Promise.race([Promise.all(asked), late(timeoutMs, ended.signal)]);
    }
    ended.abort(OVER);
    return Promise.all(asked);
  }

  return {
    ask,
    agree,
    quorum,
    askHealthy,
    askAll(method, params, timeoutMs = TIMEOUT_MS) {
      const times = { lateMs: timeoutMs, limitMs: timeoutMs };
      return Promise.all(endpoints.map((endpoint) => askOne(endpoint, method, params, times)));
    },
    health: () => endpoints.map(({ name, health }) => ({ name, ...health })),
    stop() {
      isStopped = true;
      for (const endpoint of endpoints) endpoint.stop();
    },
  };
}

const rests = ({ health }: Endpoint): boolean => health.restsUntil > performance.now();

/** Those that rest come last, in the order of the configuration otherwise. */
const byHealth = (endpoints: readonly Endpoint[]): Endpoint[] => [
  ...endpoints.filter((endpoint) => !rests(endpoint)),
  ...endpoints.filter(rests),
];

async function askOne(
  endpoint: Endpoint,
  method: string,
  params: readonly unknown[],
  times: Times,
): Promise<NodeAnswer> {
  const { value, error } = await one(endpoint, method, params, (answer) => answer, times);
  return { endpoint: endpoint.name, result: value, error };
}

function createGate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

interface Outcome<T> {
  readonly value: T | null;
  readonly error: Error | null;
}

async function one<T>(
  endpoint: Endpoint,
  method: string,
  params: readonly unknown[],
  read: Reader<T>,
  times: Times,
): Promise<Outcome<T>> {
  try {
    return { value: read(await endpoint.send(method, params, times)), error: null };
  } catch (error) {
    if (error instanceof BadAnswer) noteFailure(endpoint.health);
    return { value: null, error: error instanceof Error ? error : new Error(String(error)) };
  }
}

interface Candidate<T> extends Outcome<T> {
  readonly voters: Endpoint[];
}

/**
 * The answer in an error; null when it has none. A call that uses up its gas reverts without data. Some nodes have an error of
 * their own for it, and one node alone must not decide by that either.
 */
function errorAnswer(error: Error): string | null {
  if (!(error instanceof RpcError) || !(error.isRevert || error.isOutOfGas)) return null;
  return `revert ${error.data ?? '0x'}`;
}

/** Counts equal answers. A revert is an answer, too; every other error is none. */
function createBallot<T>(quorum: number) {
  const candidates = new Map<string, Candidate<T>>();
  const errors: Error[] = [];
  const isNull = ({ value, error }: Candidate<T>): boolean => value === null && error === null;
  const elected = (wanted: boolean): Candidate<T> | null =>
    [...candidates.values()].find((one) => one.voters.length >= quorum && isNull(one) === wanted) ?? null;
  return {
    add(endpoint: Endpoint, outcome: Outcome<T>): void {
      const { value, error } = outcome;
      const key = error ? errorAnswer(error) : JSON.stringify(value);
      if (key === null) {
        if (error) errors.push(error);
        return;
      }
      const candidate = candidates.get(key) ?? { ...outcome, voters: [] };
      candidate.voters.push(endpoint);
      candidates.set(key, candidate);
    },
    known: () => elected(false),
    unknown: () => elected(true),
    /** A node that contradicts two others is asked last for a while; one that does not know yet is only behind. */
    blame(winner: Candidate<T>): void {
      for (const candidate of candidates.values()) {
        if (candidate === winner || isNull(candidate)) continue;
        for (const { health } of candidate.voters) noteContradiction(health);
      }
    },
    problem(method: string): Error {
      if (candidates.size > 1) return new RpcDisagreement(`the nodes contradict each other about ${method}`);
      return errors[0] ?? new RpcUnavailable(`too few nodes answered ${method}`);
    },
  };
}
