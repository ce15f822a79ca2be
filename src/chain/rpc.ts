import { setTimeout as sleep } from 'node:timers/promises';
import { createEndpoint, type Endpoint, RpcError, RpcUnavailable, type Times } from './endpoint';
import { BadAnswer } from './hex';
import { type Aside, LATE_MS, type NodeHealth } from './node-health';

/** Takes from an answer what the caller uses, as plain JSON or whole numbers; throws BadAnswer when it is not there. */
export type Reader<T> = (answer: unknown) => T;

/** Too few nodes gave the same answer. */
export class RpcDisagreement extends Error {}

export interface NodeAnswer<T = unknown> {
  readonly endpoint: string;
  /** The result, null with an error; or why there is none. */
  readonly result: T | null;
  readonly error: Error | null;
}

/** The newest block of a node. */
export interface NodeHead {
  readonly endpoint: string;
  readonly number: number;
}

/**
 * Several nodes, none of which is trusted alone: a majority decides. Whatever is asked, a node that has not answered after LATE_MS
 * is not waited for while others can be asked. A node that fails, is late or behind, or contradicts a majority is set aside: it is
 * asked last, until it proves to be well again after a rest.
 */
export interface Rpc {
  /** The answer of one node: the next one is asked when the first does not answer, or with an error that is no revert. */
  ask<T>(method: string, params: readonly unknown[], read: Reader<T>, limitMs?: number): Promise<T>;
  /**
   * The answer that a majority gives. `null` means "unknown", which a node that lags behind also says: it counts only when no
   * majority agrees on something else.
   */
  agree<T>(method: string, params: readonly unknown[], read: Reader<T>, limitMs?: number): Promise<T>;
  /** The answer of every node, for what each should know; it never rejects. */
  askAll(method: string, params: readonly unknown[], limitMs?: number): Promise<readonly NodeAnswer[]>;
  /**
   * Asks every node to do something, and resolves with the answers so far once a majority has done it, or soon after a majority
   * has answered; the others go on. It never rejects.
   */
  broadcast(method: string, params: readonly unknown[], limitMs?: number): Promise<readonly NodeAnswer[]>;
  /** The answers of the nodes that are not set aside, or of all while fewer than a majority of them answer in time. */
  askHealthy<T>(
    method: string,
    params: readonly unknown[],
    read: Reader<T>,
    limitMs?: number,
  ): Promise<readonly NodeAnswer<T>[]>;
  /** The newest block number that a majority has reached; null when too few are given. Sets aside the nodes that are far behind it. */
  reached(heads: readonly NodeHead[]): number | null;
  /** How many nodes must say the same. */
  readonly quorum: number;
  health(): readonly (NodeHealth & { readonly name: string })[];
  /** Ends every request under way. */
  stop(): void;
}

export interface RpcOptions {
  /** The factor by which every limit is longer, for nodes on a busy machine. */
  readonly patience?: number;
  /** Called with the name of a node and why it is set aside, and with null when it is well again. */
  readonly onAside?: (node: string, why: Aside | null) => void;
}

/** A limit for what the books need: they move on with nodes that take ten seconds for an answer. */
export const SLOW_MS = 15_000;
const LIMIT_MS = 2_000;
const ATTEMPTS_MAX = 3;
/** Maximum lag of a node in blocks, which nodes receive one after the other; one that lacks more is behind. */
const BEHIND_BLOCKS = 3;
/** Given to `abort`, which makes an exception each time when it gets no reason. */
const OVER = new Error('the answer is not needed any more');

export function createRpc(urls: readonly string[], options: RpcOptions = {}): Rpc {
  const { patience = 1, onAside = () => undefined } = options;
  const endpoints = urls.map((url, index) => createEndpoint({ url, index, patience, onAside }));
  const quorum = Math.floor(endpoints.length / 2) + 1;

  /** Resolves after the time of a node that answers in time, or when the answer is not needed any more. */
  async function late(signal: AbortSignal): Promise<void> {
    const endMs = performance.now() + LATE_MS * patience;
    // In a busy process a timer ends early, and a node is late only after its time.
    for (let left = LATE_MS * patience; left > 0 && !signal.aborted; left = endMs - performance.now())
      await sleep(Math.ceil(left), undefined, { signal, ref: false }).catch(() => undefined);
  }

  /**
   * Asks the first `atOnce` nodes, and each further one when those before it have answered without a decision, or are late.
   * `all` resolves when every node that was asked has answered.
   */
  async function inTurn(
    turns: readonly Endpoint[],
    atOnce: number,
    { decided, over }: { readonly decided: Gate; readonly over: AbortSignal },
    send: (endpoint: Endpoint) => Promise<void>,
  ): Promise<{ readonly all: Promise<unknown> }> {
    const under: Promise<void>[] = [];
    for (const [i, endpoint] of turns.entries()) {
      under.push(send(endpoint));
      if (i + 1 < atOnce) continue;
      // The same node is asked again only after its answer.
      const isAgain = turns[i + 1] === endpoint;
      await Promise.race([Promise.all(under), decided.passed, ...(isAgain ? [] : [late(over)])]);
      if (decided.isOpen()) break;
    }
    return { all: Promise.all(under) };
  }

  async function ask<T>(
    method: string,
    params: readonly unknown[],
    read: Reader<T>,
    limitMs = LIMIT_MS,
  ): Promise<T> {
    const order = byHealth(endpoints);
    const isOne = order.length === 1;
    const turns = isOne ? Array<Endpoint[]>(ATTEMPTS_MAX).fill(order).flat() : order.slice(0, ATTEMPTS_MAX);
    const decided = createGate();
    const ended = new AbortController();
    let found: Outcome<T> = { value: null, error: new RpcUnavailable('no node is configured') };
    const { all } = await inTurn(turns, 1, { decided, over: ended.signal }, async (endpoint) => {
      const outcome = await one(endpoint, method, params, read, { limitMs, over: ended.signal });
      if (decided.isOpen()) return;
      found = outcome;
      const { error } = outcome;
      if (error === null || (error instanceof RpcError && (error.isRevert || isOne))) decided.open();
    });
    await Promise.race([all, decided.passed]);
    ended.abort(OVER);
    if (found.error) throw found.error;
    return found.value as T;
  }

  async function agree<T>(
    method: string,
    params: readonly unknown[],
    read: Reader<T>,
    limitMs = LIMIT_MS,
  ): Promise<T> {
    const ballot = createBallot<T>(quorum);
    const decided = createGate();
    const ended = new AbortController();
    const turns = byHealth(endpoints);
    const { all } = await inTurn(turns, quorum, { decided, over: ended.signal }, async (endpoint) => {
      ballot.add(endpoint, await one(endpoint, method, params, read, { limitMs, over: ended.signal }));
      if (ballot.known()) decided.open();
    });
    if (!ballot.unknown()) await Promise.race([all, decided.passed]);
    ended.abort(OVER);
    const winner = ballot.known() ?? ballot.unknown();
    if (winner === null) throw ballot.problem(method);
    ballot.compare(winner);
    if (winner.error) throw winner.error;
    return winner.value as T;
  }

  async function askHealthy<T>(
    method: string,
    params: readonly unknown[],
    read: Reader<T>,
    limitMs = LIMIT_MS,
  ): Promise<readonly NodeAnswer<T>[]> {
    const awake = endpoints.filter(({ health }) => !health.rests());
    const first = awake.length < quorum ? endpoints : awake;
    const ended = new AbortController();
    const times = { limitMs, over: ended.signal };
    const enough = createGate();
    let answered = 0;
    const send = async (endpoint: Endpoint): Promise<NodeAnswer<T>> => {
      const answer = await askOne(endpoint, method, params, read, times);
      if (answer.error === null && ++answered >= quorum) enough.open();
      return answer;
    };
    const asked = first.map(send);
    await Promise.race([Promise.all(asked), late(ended.signal)]);
    if (answered < quorum) {
      asked.push(...endpoints.filter((endpoint) => !first.includes(endpoint)).map(send));
      await Promise.race([Promise.all(asked), enough.passed]);
      // The first answers may be those of nodes that lag behind.
      await Promise.race([Promise.all(asked), late(ended.signal)]);
    }
    ended.abort(OVER);
    return Promise.all(asked);
  }

  async function broadcast(
    method: string,
    params: readonly unknown[],
    limitMs = LIMIT_MS,
  ): Promise<readonly NodeAnswer[]> {
    const answers: (NodeAnswer | undefined)[] = endpoints.map(() => undefined);
    const [answeredByMost, doneByMost] = [createGate(), createGate()];
    const waited = new AbortController();
    const all = endpoints.map(async (endpoint, i) => {
      answers[i] = await askOne(endpoint, method, params, asIs, { limitMs });
      const so = answers.filter((answer) => answer !== undefined);
      if (so.length >= quorum) answeredByMost.open();
      if (so.filter(({ error }) => error === null).length >= quorum) doneByMost.open();
    });
    const soonAfter = answeredByMost.passed.then(() => late(waited.signal));
    await Promise.race([Promise.all(all), doneByMost.passed, soonAfter]);
    waited.abort(OVER);
    return answers.filter((answer) => answer !== undefined);
  }

  return {
    ask,
    agree,
    askHealthy,
    broadcast,
    quorum,
    askAll: (method, params, limitMs = LIMIT_MS) =>
      Promise.all(endpoints.map((endpoint) => askOne(endpoint, method, params, asIs, { limitMs }))),
    reached(heads) {
      const numbers = heads.map(({ number }) => number).sort((a, b) => b - a);
      const reached = numbers[quorum - 1];
      if (reached === undefined) return null;
      const byName = new Map(heads.map(({ endpoint, number }) => [endpoint, number]));
      for (const { name, health } of endpoints) {
        const own = byName.get(name);
        if (own !== undefined) health.compared(own < reached - BEHIND_BLOCKS);
      }
      return reached;
    },
    health: () => endpoints.map(({ name, health }) => ({ name, ...health.seen })),
    stop() {
      for (const endpoint of endpoints) endpoint.stop();
    },
  };
}

/** Those that are set aside come last, in the order of the configuration otherwise. */
const byHealth = (endpoints: readonly Endpoint[]): Endpoint[] => [
  ...endpoints.filter(({ health }) => !health.rests()),
  ...endpoints.filter(({ health }) => health.rests()),
];

const asIs = (answer: unknown): unknown => answer;

async function askOne<T>(
  endpoint: Endpoint,
  method: string,
  params: readonly unknown[],
  read: Reader<T>,
  times: Times,
): Promise<NodeAnswer<T>> {
  const { value, error } = await one(endpoint, method, params, read, times);
  return { endpoint: endpoint.name, result: value, error };
}

interface Gate {
  readonly passed: Promise<void>;
  open(): void;
  isOpen(): boolean;
}

function createGate(): Gate {
  let [open, isOpen] = [(): void => undefined, false];
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    passed,
    open() {
      isOpen = true;
      open();
    },
    isOpen: () => isOpen,
  };
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
    if (error instanceof BadAnswer) endpoint.health.failed('FAILS');
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

const asText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);

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
      const key = error ? errorAnswer(error) : JSON.stringify(value, asText);
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
    /** A node that does not know yet is only behind, and contradicts no other. */
    compare(winner: Candidate<T>): void {
      for (const candidate of candidates.values()) {
        if (candidate !== winner && isNull(candidate)) continue;
        for (const { health } of candidate.voters)
          candidate === winner ? health.agreed() : health.contradicted();
      }
    },
    problem(method: string): Error {
      if (candidates.size > 1) return new RpcDisagreement(`the nodes contradict each other about ${method}`);
      return errors[0] ?? new RpcUnavailable(`too few nodes answered ${method}`);
    },
  };
}
