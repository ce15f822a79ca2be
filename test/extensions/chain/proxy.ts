import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Transaction } from 'ethers';

export interface RpcRequest {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}
export type RpcReply = { result: unknown } | { error: { code: number; message: string; data?: string } };
export type Watcher = (request: RpcRequest) => Promise<void> | void;
/** Turns a right answer into that of a lying node; it may take its time. */
export type Forgery = (request: RpcRequest, result: unknown) => unknown;

/** A node in front of a real one, that can be as bad as a node can be. Each fault lasts until `heal`. */
export interface ChainProxy {
  readonly url: string;
  /** How often each method was asked for, since the start or `forget`. */
  readonly asked: ReadonlyMap<string, number>;
  /** Raw transactions that arrived, oldest first, also those that were swallowed or refused. */
  readonly broadcasts: readonly string[];
  forget(): void;
  /** Every answer comes so much later. */
  delay(ms: number): void;
  /** Connections end without an answer. */
  drop(): void;
  /** Requests are taken and never answered. */
  hang(): void;
  /** Whether a request waits for an answer that does not come. */
  hasHanging(): boolean;
  /** Every answer, or that of the methods given, is an error. */
  fail(methods?: readonly string[]): void;
  /** Answers as of a number of blocks before the newest: later ones are unknown. */
  lag(blocks: number): void;
  /** The states of all but that number of newest blocks are forgotten. */
  prune(blocks: number): void;
  /** Answers as of the newest block of this moment. */
  freeze(): Promise<void>;
  /** The final block stays where it is, while the head moves. */
  holdFinality(): Promise<void>;
  hideLogs(): void;
  forge(forgery: Forgery): void;
  /** Calls this with each request before it is answered, and waits for it. */
  watch(watcher: Watcher): void;
  /** Broadcasts are answered with their hash and go nowhere. */
  swallow(): void;
  /** Each broadcast is passed on twice. */
  double(): void;
  /** As nodes do and anvil does not: a replacement must pay 10 % more. */
  refuseSmallBumps(): void;
  heal(): void;
  stop(): Promise<void>;
}

interface Behaviour {
  delayMs: number;
  broken: 'drop' | 'hang' | null;
  failing: 'all' | ReadonlySet<string>;
  lagBlocks: number;
  frozenAt: number | null;
  keptStates: number | null;
  finalAt: number | null;
  hidesLogs: boolean;
  forgery: Forgery | null;
  watcher: Watcher | null;
  broadcasting: 'once' | 'never' | 'twice';
  refusesSmallBumps: boolean;
}

const GOOD: Behaviour = {
  delayMs: 0,
  broken: null,
  failing: new Set(),
  lagBlocks: 0,
  frozenAt: null,
  keptStates: null,
  finalAt: null,
  hidesLogs: false,
  forgery: null,
  watcher: null,
  broadcasting: 'once',
  refusesSmallBumps: false,
};

export async function startChainProxy(target: string): Promise<ChainProxy> {
  const behaviour: Behaviour = { ...GOOD };
  const asked = new Map<string, number>();
  const broadcasts: string[] = [];
  const hanging = new Set<ServerResponse>();
  const prices = new Map<string, Offer>();
  const node = (method: string, params: readonly unknown[]): Promise<RpcReply> =>
    post(target, method, params);

  async function answer(of: RpcRequest): Promise<RpcReply> {
    const request = behaviour.finalAt === null ? of : asOfFinal(of, behaviour.finalAt);
    asked.set(request.method, (asked.get(request.method) ?? 0) + 1);
    if (request.method === 'eth_sendRawTransaction') broadcasts.push(String(request.params[0]));
    await behaviour.watcher?.(request);
    if (behaviour.failing === 'all' || behaviour.failing.has(request.method))
      return { error: { code: -32603, message: 'the proxy fails' } };
    if (request.method === 'eth_sendRawTransaction') return broadcast(request);
    if (await isForgotten(request)) return { error: { code: -32000, message: 'missing trie node' } };
    const isPast = behaviour.lagBlocks > 0 || behaviour.frozenAt !== null;
    const reply = isPast ? await archivedReads(request) : await node(request.method, request.params);
    if (!('result' in reply)) return reply;
    if (behaviour.hidesLogs && request.method === 'eth_getLogs') return { result: [] };
    return { result: behaviour.forgery ? await behaviour.forgery(request, reply.result) : reply.result };
  }

  async function isForgotten({ method, params }: RpcRequest): Promise<boolean> {
    const hash = params.map(blockHashIn).find((one) => one !== null);
    if (behaviour.keptStates === null || method !== 'eth_call' || !hash) return false;
    const number = numberIn(resultOf(await node('eth_getBlockByHash', [hash, false])));
    return number <= Number(resultOf(await node('eth_blockNumber', []))) - behaviour.keptStates;
  }

  async function newestSeen(): Promise<number> {
    const newest = Number(resultOf(await node('eth_blockNumber', [])));
    return behaviour.frozenAt ?? Math.max(0, newest - behaviour.lagBlocks);
  }

  /** The answer of a node that knows no block after the newest one that it has seen. */
  async function archivedReads(request: RpcRequest): Promise<RpcReply> {
    const newest = await newestSeen();
    if (request.method === 'eth_blockNumber') return { result: hex(newest) };
    const known = await node('eth_getBlockByNumber', ['finalized', false]);
    const distance = Number(resultOf(await node('eth_blockNumber', []))) - numberIn(resultOf(known));
    const tags: Record<string, number> = {
      latest: newest,
      pending: newest,
      finalized: Math.max(0, newest - distance),
      safe: Math.max(0, newest - distance),
    };
    const params = request.params.map((one) =>
      typeof one === 'string' && one in tags ? hex(tags[one] ?? 0) : one,
    );
    const hash = params.map(blockHashIn).find((one) => one !== null);
    if (hash && numberIn(resultOf(await node('eth_getBlockByHash', [hash, false]))) > newest)
      return { error: { code: -32000, message: 'unknown block' } };
    const reply = await node(request.method, params);
    return 'result' in reply && numberIn(reply.result) > newest ? { result: null } : reply;
  }

  async function broadcast({ method, params }: RpcRequest): Promise<RpcReply> {
    const transaction = Transaction.from(String(params[0]));
    if (behaviour.refusesSmallBumps && isSmallBump(prices, transaction))
      return { error: { code: -32000, message: 'replacement transaction underpriced' } };
    if (behaviour.broadcasting === 'never') return { result: transaction.hash };
    if (behaviour.broadcasting === 'twice') await node(method, params);
    return node(method, params);
  }

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await textOf(incoming)) as RpcRequest | RpcRequest[];
    if (behaviour.delayMs > 0) await sleep(behaviour.delayMs);
    if (behaviour.broken === 'drop') return void response.destroy();
    if (behaviour.broken === 'hang') return void hanging.add(response);
    const one = async (request: RpcRequest) => ({
      jsonrpc: '2.0',
      id: request.id,
      ...(await answer(request)),
    });
    const reply = Array.isArray(body) ? await Promise.all(body.map(one)) : await one(body);
    response.setHeader('content-type', 'application/json').end(JSON.stringify(reply));
  }

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const set = (change: Partial<Behaviour>): void => void Object.assign(behaviour, change);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    broadcasts,
    forget() {
      asked.clear();
      broadcasts.length = 0;
    },
    delay: (delayMs) => set({ delayMs }),
    drop: () => set({ broken: 'drop' }),
    hang: () => set({ broken: 'hang' }),
    hasHanging: () => hanging.size > 0,
    fail: (methods) => set({ failing: methods ? new Set(methods) : 'all' }),
    lag: (lagBlocks) => set({ lagBlocks }),
    prune: (keptStates) => set({ keptStates }),
    freeze: async () => set({ frozenAt: await newestSeen() }),
    holdFinality: async () =>
      set({ finalAt: numberIn(resultOf(await node('eth_getBlockByNumber', ['finalized', false]))) }),
    hideLogs: () => set({ hidesLogs: true }),
    forge: (forgery) => set({ forgery }),
    watch: (watcher) => set({ watcher }),
    swallow: () => set({ broadcasting: 'never' }),
    double: () => set({ broadcasting: 'twice' }),
    refuseSmallBumps: () => set({ refusesSmallBumps: true }),
    heal() {
      set(GOOD);
      release(hanging);
    },
    async stop() {
      release(hanging);
      await close(server);
    },
  };
}

interface Offer {
  readonly hash: string | null;
  readonly price: bigint;
}

/** Remembers the best price offered for each nonce of each sender. */
function isSmallBump(prices: Map<string, Offer>, transaction: Transaction): boolean {
  const key = `${transaction.from} ${transaction.nonce}`;
  const before = prices.get(key);
  const price = transaction.gasPrice ?? transaction.maxFeePerGas ?? 0n;
  if (before && before.hash !== transaction.hash && price * 10n < before.price * 11n) return true;
  prices.set(key, { hash: transaction.hash, price });
  return false;
}

function release(hanging: Set<ServerResponse>): void {
  for (const response of hanging) response.destroy();
  hanging.clear();
}

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

async function textOf(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

/** Asks a node directly, also for what only anvil does. */
export async function post(url: string, method: string, params: readonly unknown[]): Promise<RpcReply> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  return (await response.json()) as RpcReply;
}

/** The result of a direct question; throws the node's error. */
export async function asks(url: string, method: string, ...params: unknown[]): Promise<unknown> {
  return resultOf(await post(url, method, params));
}

function resultOf(reply: RpcReply): unknown {
  if ('result' in reply) return reply.result;
  throw new Error(reply.error.message);
}

const hex = (n: number): string => `0x${n.toString(16)}`;

/** The block that an answer is of; -1 when it is of none. */
function numberIn(result: unknown): number {
  if (typeof result !== 'object' || result === null) return -1;
  const { number, blockNumber } = result as { number?: string; blockNumber?: string };
  const text = number ?? blockNumber;
  return text === undefined ? -1 : Number(text);
}

const asOfFinal = (request: RpcRequest, number: number): RpcRequest => ({
  ...request,
  params: request.params.map((param) => (param === 'finalized' ? hex(number) : param)),
});

function blockHashIn(param: unknown): string | null {
  if (typeof param !== 'object' || param === null) return null;
  const { blockHash } = param as { blockHash?: string };
  return blockHash ?? null;
}
