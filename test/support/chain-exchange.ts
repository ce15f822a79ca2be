import { Wallet } from 'ethers';
import { startWorker } from '../../src/app/worker';
import { loadConfig } from '../../src/config/load';
import type { RunningChain } from '../../src/local/chain';
import { openLocalChain } from '../../src/local/chain-exchange';
import { createLogger } from '../../src/log';
import { createShell } from '../cli/shell';
import type { Client } from './client';
import { ADMIN_TOKEN, ENVIRONMENT } from './settings';
import { createTrader, type Domain, domainOf } from './trader';
import { until } from './waiting';
import { startWebReplicas } from './web-replicas';

/** A transaction that the exchange asks a wallet to send itself. */
export interface Call {
  readonly to: string;
  readonly data: string;
}

const GAS_PRICE = '0x3b9aca00';
const GAS_LIMIT = '0x1e8480';

/** An exchange with funds on a chain of its own: a web process and a worker within the test's process, and anvil. */
export async function startChainExchange(more: Readonly<Record<string, string>> = {}) {
  let chain: RunningChain | null = null;
  const onStart = (started: RunningChain): void => {
    chain = started;
  };
  const places = await openLocalChain({ chainId: 97, eip712Name: 'Market CTF Exchange', onStart });
  const { OPERATOR_KEYS, ORACLE_KEY, ...shown } = places;
  const env = {
    FUNDS: 'chain',
    PAPER_GRANT: '10000',
    UNSETTLED_MAX_NEW: '1000',
    FRESH_FUNDS_MAX: '0',
    ...shown,
    ...more,
  };
  const exchange = await startWebReplicas({ env, durable: true });
  const config = loadConfig({
    ...ENVIRONMENT,
    ...env,
    OPERATOR_KEYS,
    ORACLE_KEY,
    REDIS_URL: exchange.redis.url,
  });
  const logged: string[] = [];
  const log = createLogger(config, 'worker', { write: (line: string) => logged.push(line) });
  let worker = await startWorker(config, log);
  let [web] = exchange.replicas;

  async function ask(method: string, ...params: unknown[]): Promise<unknown> {
    const answer = await fetch(places.CHAIN_RPC_URL, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const { result, error } = (await answer.json()) as { result?: unknown; error?: { message: string } };
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  async function sendOne(wallet: Wallet, { to, data }: Call): Promise<void> {
    const nonce = Number(await ask('eth_getTransactionCount', wallet.address, 'pending'));
    const signed = await wallet.signTransaction({
      type: 0,
      chainId: config.chainId,
      nonce,
      to,
      data,
      gasLimit: GAS_LIMIT,
      gasPrice: GAS_PRICE,
    });
    const hash = await ask('eth_sendRawTransaction', signed);
    await until('a transaction is in a block', async () => {
      const receipt = (await ask('eth_getTransactionReceipt', hash)) as { status: string } | null;
      if (receipt && receipt.status !== '0x1') throw new Error(`the chain refused ${data.slice(0, 10)}`);
      return receipt !== null;
    });
  }

  return {
    places: shown,
    redisUrl: exchange.redis.url,
    shell: createShell(exchange.redis.url, env),
    get url(): string {
      return web.url;
    },
    get client(): Client {
      return web.client;
    },
    logged,
    ask,
    /** A wallet that has signed in. */
    async newTrader(wallet = new Wallet(Wallet.createRandom().privateKey)) {
      const trader = createTrader(web.client, await domain(web.client), wallet);
      await trader.signIn();
      const send = async (calls: readonly Call[]): Promise<void> => {
        for (const call of calls) await sendOne(wallet, call);
      };
      return { ...trader, wallet, send };
    },
    /** Ends the processes of the exchange; the chain goes on. */
    async leave() {
      await worker.stop(2_000);
      await web.stop();
    },
    /** Starts them again. */
    async enter() {
      web = await exchange.replica();
      worker = await startWorker(config, log);
    },
    /** The worker alone. */
    rest: () => worker.stop(2_000),
    async work() {
      worker = await startWorker(config, log);
    },
    asAdmin: (path: string, body: unknown) => web.client.post(path, { token: ADMIN_TOKEN, body }),
    async stop() {
      await worker.stop(2_000);
      await exchange.stop();
      await chain?.stop();
    },
  };
}

const domain = (client: Client): Promise<Domain> => domainOf(client);

export type ChainExchange = Awaited<ReturnType<typeof startChainExchange>>;
export type ChainTrader = Awaited<ReturnType<ChainExchange['newTrader']>>;
