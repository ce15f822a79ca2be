import { randomBytes } from 'node:crypto';
import { type Client, type ClientOptions, createClient, ExchangeError } from 'ctf-exchange-client';
import { Wallet } from 'ethers';
import type { Environment } from '../../src/config/load';
import { ADMIN_TOKEN } from './settings';
import { type OpenMarket, openMarket } from './trader';
import { sleep } from './waiting';
import { startWebReplicas } from './web-replicas';

const SERVER_ERROR = 500;
const ATTEMPTS_MAX = 40;
const PAUSE_MS = 250;

export interface Trader {
  readonly client: Client;
  readonly wallet: Wallet;
}

interface TraderOptions extends Partial<ClientOptions> {
  /** Which replica it talks to. */
  readonly at?: number;
  readonly signIn?: boolean;
}

/** A busy machine may answer 503 just after the start. */
async function patiently(act: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return void (await act());
    } catch (error) {
      if (!(error instanceof ExchangeError) || error.status < SERVER_ERROR || attempt === ATTEMPTS_MAX)
        throw error;
      await sleep(PAUSE_MS);
    }
  }
}

export type TypedClients = Awaited<ReturnType<typeof startTypedClients>>;

/** A real exchange, and clients of it as its users have them. */
export async function startTypedClients(env: Environment = {}, replicas = 1) {
  const exchange = await startWebReplicas({ env, replicas });
  const port = (index = 0): number => exchange.replicas[index]?.port ?? 0;
  const url = (index = 0): string => `http://127.0.0.1:${port(index)}`;
  return {
    exchange,
    port,
    url,
    /** A new client, by default signed in as a new wallet. */
    async trader({ at = 0, signIn = true, ...options }: TraderOptions = {}): Promise<Trader> {
      const wallet = new Wallet(`0x${randomBytes(32).toString('hex')}`);
      const client = createClient({ baseUrl: url(at), ...options });
      if (signIn) await patiently(() => client.signIn(wallet));
      return { client, wallet };
    },
    market: (body: Record<string, unknown> = {}): Promise<OpenMarket> =>
      openMarket(exchange.client, ADMIN_TOKEN, body),
    stop: () => exchange.stop(),
  };
}
