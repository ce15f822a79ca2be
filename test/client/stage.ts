import { randomBytes } from 'node:crypto';
import { Wallet } from 'ethers';
import { type Client, createClient, type Session } from '../../src/client';
import type { Environment } from '../../src/config';
import { ADMIN_TOKEN, startExchange, type TestExchange } from '../support/exchange';
import { type Market, openMarket } from '../support/trader';

export interface ClientStage {
  readonly exchange: TestExchange;
  readonly url: string;
  /** A client of its own, signed in as a new wallet unless told otherwise. */
  trader(options?: { signIn?: boolean; onSession?: (session: Session | null) => void }): Promise<Trader>;
  market(body?: Record<string, unknown>): Promise<OpenMarket>;
  stop(): Promise<void>;
}

export type OpenMarket = Market & { slug: string; conditionId: string };

export interface Trader {
  readonly client: Client;
  readonly wallet: Wallet;
}

/** A real exchange, and clients of it as its users have them. */
export async function startClientStage(env: Environment = {}): Promise<ClientStage> {
  const exchange = await startExchange({ env });
  const url = `http://127.0.0.1:${exchange.replicas[0].port}`;
  return {
    exchange,
    url,
    async trader({ signIn = true, onSession } = {}) {
      const wallet = new Wallet(`0x${randomBytes(32).toString('hex')}`);
      const client = createClient({ baseUrl: url, onSession });
      if (signIn) await client.signIn(wallet);
      return { client, wallet };
    },
    market: (body = {}) => openMarket(exchange.client, ADMIN_TOKEN, body),
    stop: () => exchange.stop(),
  };
}
