import { createRpc, type Rpc, type RpcOptions } from '../../../src/chain/rpc';
import { type Anvil, type AnvilOptions, startAnvil } from './anvil';
import { asks, type ChainProxy, startChainProxy } from './proxy';

export const CHAIN_ID = 97;
const PATIENCE = 30;

/** A chain, and nodes of it that can misbehave. */
export interface Nodes {
  readonly anvil: Anvil;
  readonly proxies: readonly ChainProxy[];
  /** A client of these proxies, of all of them by default, with more patience on a busy machine; ended by `stop`. */
  client(of?: readonly ChainProxy[], options?: RpcOptions): Rpc;
  /** Asks the chain itself. */
  ask(method: string, ...params: unknown[]): Promise<unknown>;
  /** Replaces the newest blocks by others. */
  reorganize(depth: number): Promise<void>;
  heal(): void;
  stop(): Promise<void>;
}

/** The chain is a new one, or one that runs already, which `stop` then leaves alone. */
export async function startNodes(count: number, on?: AnvilOptions | Anvil): Promise<Nodes> {
  const running = on && 'url' in on ? on : null;
  const anvil = running ?? (await startAnvil(CHAIN_ID, on as AnvilOptions | undefined));
  const proxies = await Promise.all(Array.from({ length: count }, () => startChainProxy(anvil.url)));
  const clients: Rpc[] = [];
  let reorganizations = 0;
  return {
    anvil,
    proxies,
    client(of = proxies, options = {}) {
      const rpc = createRpc(
        of.map(({ url }) => url),
        { patience: PATIENCE, ...options },
      );
      clients.push(rpc);
      return rpc;
    },
    ask: (method, ...params) => asks(anvil.url, method, ...params),
    async reorganize(depth) {
      const [from] = (await asks(anvil.url, 'eth_accounts')) as string[];
      // Without a transaction of its own, a new block might be the old one.
      const transaction = { from, to: from, value: `0x${(++reorganizations).toString(16)}` };
      await asks(anvil.url, 'anvil_reorg', depth, [[transaction, 0]]);
    },
    heal: () => {
      for (const proxy of proxies) proxy.heal();
    },
    async stop() {
      for (const rpc of clients) rpc.stop();
      await Promise.all(proxies.map((proxy) => proxy.stop()));
      if (!running) await anvil.stop();
    },
  };
}
