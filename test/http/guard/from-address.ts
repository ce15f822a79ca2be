import type { Answer, Sent } from '../../support/client';
import { openLink } from '../../support/redis';
import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, domainOf, type Market, openMarket, type Trader } from '../../support/trader';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

/** Two replicas with limits on, behind a proxy that names the client. */
export interface Street {
  readonly exchange: WebReplicas;
  readonly market: Market;
  readonly link: Awaited<ReturnType<typeof openLink>>;
  /** A wallet that sends from an address that no test uses. */
  trader(): Promise<Trader>;
  stop(): Promise<void>;
}

export async function openStreet(): Promise<Street> {
  const exchange = await startWebReplicas({ replicas: 2, env: { RATE_LIMIT: 'on', TRUST_PROXY: '1' } });
  const market = await openMarket(exchange.client, ADMIN_TOKEN);
  const link = await openLink(exchange.redis.port);
  return {
    exchange,
    market,
    link,
    trader: async () => createTrader(exchange.client, await domainOf(exchange.client)),
    stop: async () => {
      link.close();
      await exchange.stop();
    },
  };
}

/** A client at one address. */
export class Visitor {
  private static count = 0;
  readonly address = `203.0.113.${++Visitor.count}`;

  constructor(private readonly street: Street) {}

  /** At one of the replicas, in turn. */
  send(method: string, path: string, sent: Sent = {}, turn = 0): Promise<Answer> {
    const { replicas } = this.street.exchange;
    return (replicas[turn % 2] ?? replicas[0]).client.call(method, path, {
      ...sent,
      headers: { ...sent.headers, 'x-forwarded-for': this.address },
    });
  }

  /** A client that sends from here. */
  client() {
    return {
      ...this.street.exchange.client,
      get: (path: string, sent?: Sent) => this.send('GET', path, sent),
      post: (path: string, sent?: Sent) => this.send('POST', path, sent),
    };
  }

  /** Pretends that a number of points has just been used. */
  spend(bucket: string, points: number, step = ''): Promise<unknown> {
    return this.street.link.ask(`SET rl:${bucket}:${step}${this.address} ${points} EX 60`);
  }
}

/** The content of a refusal by a limit. */
export const told = ({ status, body, headers }: Answer): unknown[] => [
  status,
  body.scope,
  Number(headers.get('retry-after')) > 0,
];
