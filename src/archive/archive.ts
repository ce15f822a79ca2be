import { randomUUID } from 'node:crypto';
import { Pool, type PoolClient } from 'pg';
import type { Archive, ArchivedOrder, ArchiveSize, ArchiveState } from '../exchange/archive';
import { Refusal } from '../exchange/errors';
import { createMonth, createTables, LAYOUT, monthOf, slow } from './schema';

export interface ArchiveOptions {
  readonly url: string;
  /** Told why the archive did not respond. */
  readonly onError?: (error: Error) => void;
}

/** A request waits for a person's answer. */
const CONNECT_MAX_MS = 2_000;
const QUERY_MAX_MS = 2_000;
const IDLE_MS = 10_000;
const CONNECTIONS_MAX = 8;
/** The code for a table that is not there: nothing was ever archived. */
const NO_TABLE = '42P01';

interface Row {
  readonly rank: string;
  readonly hash: Buffer;
  readonly wallet: Buffer;
  readonly market: string;
  readonly record: Buffer;
}

const COLUMNS = 'rank, hash, wallet, market, record';
/** The batch and its number in one statement: a number that is not the next one adds nothing. */
const APPEND = `
  with moved as (update archive_state set batch = $1 where batch = $1 - 1 returning batch)
  insert into archive_orders (batch, rank, hash, wallet, market, record)
  select moved.batch, added.* from moved,
    unnest($2::int8[], $3::bytea[], $4::bytea[], $5::text[], $6::bytea[]) as added
  on conflict (hash, rank) do update set batch = excluded.batch, record = excluded.record`;

/** The archive in PostgreSQL. It connects when it is first asked. */
export function createArchive({ url, onError = () => undefined }: ArchiveOptions): Archive {
  const pool = new Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_MAX_MS,
    query_timeout: QUERY_MAX_MS,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
    application_name: 'ctf-exchange',
  });
  pool.on('error', onError);
  const months = new Set<string>();

  /** The answer, or UNAVAILABLE when none comes. The log has the cause, because it names where the archive is. */
  async function answered<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof Refusal) throw error;
      onError(error instanceof Error ? error : new Error(String(error)));
      throw new Refusal('UNAVAILABLE', 'the archive did not respond; retry shortly');
    }
  }

  const orNothing = <T>(ask: () => Promise<T>, nothing: T): Promise<T> =>
    answered(async () => {
      try {
        return await ask();
      } catch (error) {
        if ((error as { code?: string }).code === NO_TABLE) return nothing;
        throw error;
      }
    });

  const rows = async (text: string, values: readonly unknown[]): Promise<ArchivedOrder[]> => {
    const found: Row[] = await orNothing(async () => (await pool.query(text, [...values])).rows, []);
    return found.map(orderOf);
  };

  async function state(): Promise<ArchiveState | null> {
    const found = await orNothing(
      async () => (await pool.query('select layout, id, batch from archive_state')).rows[0],
      undefined,
    );
    if (!found) return null;
    if (found.layout !== LAYOUT) {
      throw new Refusal('UNAVAILABLE', `the archive has layout ${found.layout}; this program has ${LAYOUT}`);
    }
    return { id: found.id, batch: Number(found.batch) };
  }

  async function withClient<T>(use: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    try {
      return await use(client);
    } finally {
      client.release();
    }
  }

  async function open(): Promise<ArchiveState> {
    const known = await state();
    if (known) return known;
    await answered(() => withClient((client) => createTables(client, randomUUID())));
    const made = await state();
    if (!made) throw new Error('the archive has no state after its tables were made');
    return made;
  }

  async function append(batch: number, orders: readonly ArchivedOrder[]): Promise<boolean> {
    for (const month of orders.map(({ rank }) => monthOf(rank))) {
      if (months.has(month.table)) continue;
      await answered(() => withClient((client) => createMonth(client, month)));
      months.add(month.table);
    }
    const values = [
      batch,
      orders.map(({ rank }) => rank),
      orders.map(({ hash }) => hash),
      orders.map(({ wallet }) => wallet),
      orders.map(({ marketId }) => marketId),
      orders.map(({ record }) => record),
    ];
    const { rowCount } = await answered(() => pool.query(slow(APPEND, values)));
    return rowCount === orders.length;
  }

  async function cutBack(batch: number): Promise<number> {
    const cut = `with gone as (delete from archive_orders where batch > $1 returning 1),
      moved as (update archive_state set batch = $1 where batch > $1)
      select count(*) as count from gone`;
    const { rows: counted } = await answered(() => pool.query(slow(cut, [batch])));
    return Number(counted[0].count);
  }

  return {
    state,
    open,
    append,
    cutBack,
    orders: (hashes) => rows(`select ${COLUMNS} from archive_orders where hash = any($1::bytea[])`, [hashes]),
    ofWallet: (wallet, behind, most) =>
      behind === null
        ? rows(`select ${COLUMNS} from archive_orders where wallet = $1 order by rank desc, hash limit $2`, [
            wallet,
            most,
          ])
        : rows(
            `select ${COLUMNS} from archive_orders where wallet = $1 and rank <= $2 and (rank < $2 or hash > $3)
             order by rank desc, hash limit $4`,
            [wallet, behind.rank, behind.hash, most],
          ),
    walk: (behind, most) =>
      rows(
        `select ${COLUMNS} from archive_orders where rank >= $1 and (rank > $1 or hash > $2) order by rank, hash limit $3`,
        [behind?.rank ?? 0, behind?.hash ?? Buffer.alloc(0), most],
      ),
    async size(): Promise<ArchiveSize> {
      const text = `select coalesce(sum(pg_total_relation_size(inhrelid)), 0) as bytes,
        (select count(*) from archive_orders) as orders
        from pg_inherits where inhparent = 'archive_orders'::regclass`;
      const found = await orNothing(async () => (await pool.query(text)).rows[0], { bytes: 0, orders: 0 });
      return { orders: Number(found.orders), bytes: Number(found.bytes) };
    },
    close: () => pool.end(),
  };
}

const orderOf = ({ rank, hash, wallet, market, record }: Row): ArchivedOrder => ({
  ...{ hash, wallet, record },
  rank: Number(rank),
  marketId: market,
});
