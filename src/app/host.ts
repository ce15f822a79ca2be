import type { Config } from '../config/load';
import type { Logger } from '../log';
import type { Metrics } from '../metrics/metrics';
import type { RedisClient, RunScript } from '../store/redis/scripts';

/** The process that opens an exchange, as the extensions see it that wrap the exchange. */
export interface Host {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Opens another connection to Redis; rejects when it does not respond. */
  connect(): Promise<Connection>;
}

export interface Connection {
  readonly redis: RedisClient;
  /** Runs scripts on it. */
  readonly run: RunScript;
  close(): void;
}
