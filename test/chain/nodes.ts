import { createRpc, type Rpc } from '../../src/chain/rpc';
import { type Anvil, type AnvilOptions, startAnvil } from './anvil';
import { asks, type ChainProxy, startChainProxy } from './proxy';

export const CHAIN_ID = 97;

/** A chain, and nodes of it that can misbehave. */
export interface Nodes {
  readonly anvil: Anvil;
  readonly proxies: readonly ChainProxy[];
  /** A client of these proxies, of all of them by default; ended by `stop`. */
  client(of?: readonly ChainProxy[]): Rpc;
  /** Asks the chain itself. */
  ask(method: string, ...params: unknown[]): Promise<unknown>;
  heal(): void;
  stop(): Promise<void>;
}

/** The chain is a new one, or one that runs already, which `stop` then leaves alone. */
export async function startNodes(count: number, on?: AnvilOptions | Anvil): Promise<Nodes> {
  const running = on && 'url' in on ? on : null;
  const anvil = running ?? (await startAnvil(CHAIN_ID, on as AnvilOptions | undefined));
  const proxies = await Promise.all(Array.from({ length: count }, () => startChainProxy(anvil.url)));
  const clients: Rpc[] = [];
  return {
    ...{ anvil, proxies },
    client(of = proxies) {
      const rpc = createRpc(of.map(({ url }) => url));
      clients.push(rpc);
      return rpc;
    },
    ask: (method, ...params) => asks(anvil.url, method, ...params),
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
