import { type Client, Pool, type PoolClient } from 'pg';
import { Refusal } from '../../../exchange/errors';

export interface ArchiveOptions {
  readonly url: string;
  /** The archive of one of several shards: each has a schema of its own in the database, but the first, which has that of one shard. */
  readonly shard?: number;
  readonly shards?: number;
  /** Called with the reason when the archive did not respond. */
  readonly onError?: (error: Error) => void;
}

/** A request waits for a person's answer. */
const CONNECT_MAX_MS = 2_000;
const QUERY_MAX_MS = 2_000;
const IDLE_MS = 10_000;
/** Connections of a process for all of its shards, at least two for each, because a batch may take long. */
const CONNECTIONS_MAX = 8;
const CONNECTIONS_MIN = 2;
/** The code for a table that is not there: nothing was ever archived. */
const NO_TABLE = '42P01';

export interface Query {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly query_timeout?: number;
  /** Without tables nothing was ever archived, or someone took them away: only who reads the state may think the first. */
  readonly mayBeMissing?: boolean;
}

/** Queries to the archive. They throw UNAVAILABLE when no answer comes; the log has the cause, because it names where the archive is. */
export interface Connection {
  /** Null for the schema that the connection has by itself. */
  readonly schema: string | null;
  /** No rows when the tables are not there, of a query that says so. */
  rows<Row extends object>(query: Query): Promise<Row[]>;
  withClient<T>(use: (client: PoolClient) => Promise<T>): Promise<T>;
  /** Why it last did not answer; null when it always has. */
  failure(): string | null;
  /** Ends the connections of `withClient` without waiting for their answers, and refuses others. */
  breakOff(): void;
  close(): Promise<void>;
}

/** A name with several addresses fails with an error for each, and says nothing itself. */
function causeOf(error: Error): Error {
  const [first] = (error as Partial<AggregateError>).errors ?? [];
  return first ?? error;
}

/** The address with a setting that PostgreSQL applies to every connection. */
function withSchema(url: string, schema: string): string {
  const address = new URL(url);
  const given = address.searchParams.get('options');
  address.searchParams.set('options', `${given === null ? '' : `${given} `}-c search_path=${schema}`);
  return address.href;
}

/** It connects when it is first asked. */
export function createConnection(options: ArchiveOptions): Connection {
  const { url, shard = 0, shards = 1, onError = () => undefined } = options;
  const schema = shard === 0 ? null : `shard_${shard}`;
  const pool = new Pool({
    connectionString: schema === null ? url : withSchema(url, schema),
    max: Math.max(CONNECTIONS_MIN, Math.floor(CONNECTIONS_MAX / shards)),
    connectionTimeoutMillis: CONNECT_MAX_MS,
    query_timeout: QUERY_MAX_MS,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
    application_name: 'ctf-exchange',
  });
  pool.on('error', onError);
  let failure: string | null = null;
  const used = new Set<PoolClient>();
  let isOff = false;

  async function answered<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof Refusal) throw error;
      const cause = causeOf(error as Error);
      failure = cause.message;
      onError(cause);
      throw new Refusal('UNAVAILABLE', 'the archive did not respond; retry shortly');
    }
  }

  return {
    schema,
    rows: <Row extends object>({ mayBeMissing = false, ...query }: Query) =>
      answered(async () => {
        try {
          return (await pool.query({ ...query, values: [...query.values] })).rows as Row[];
        } catch (error) {
          if (mayBeMissing && (error as { code?: string }).code === NO_TABLE) return [];
          throw error;
        }
      }),
    withClient: (use) =>
      answered(async () => {
        const client = await pool.connect();
        let failure: Error | undefined;
        // The pool listens only to connections that are not in use; an error without a listener ends the process.
        client.on('error', onError);
        used.add(client);
        try {
          if (isOff) throw new Refusal('UNAVAILABLE', 'this process is stopping; retry shortly');
          return await use(client);
        } catch (error) {
          failure = error instanceof Error ? error : new Error(String(error));
          throw error;
        } finally {
          used.delete(client);
          client.off('error', onError);
          // A connection on which something failed may still wait for an answer.
          client.release(failure);
        }
      }),
    failure: () => failure,
    breakOff() {
      isOff = true;
      // The driver closes a connection at once on which it waits for an answer.
      for (const client of used) (client as unknown as Client).end().catch(onError);
    },
    close: () => pool.end(),
  };
}
