import type { PoolClient } from 'pg';

/**
 * The tables of the archive. `record` is an order as the store packs it, so there is one decoder; `rank` begins with the time, so a
 * partition is a month. `batch` is the number under which a row was added: see src/store/archive/.
 */
const TABLES = `
  create table if not exists archive_state (
    one boolean primary key default true check (one),
    layout int not null,
    id text not null,
    batch int8 not null
  );
  create table if not exists archive_orders (
    rank int8 not null,
    hash bytea not null,
    wallet bytea not null,
    market text not null,
    batch int8 not null,
    record bytea not null
  ) partition by range (rank);
  create unique index if not exists archive_orders_hash on archive_orders (hash, rank);
  create index if not exists archive_orders_wallet on archive_orders (wallet, rank desc, hash);
  create index if not exists archive_orders_batch on archive_orders using brin (batch);
`;

/** The time to make tables or to add a batch on a busy disk. No request waits for it. */
const SLOW_MAX_MS = 60_000;
export const slow = (text: string, values: readonly unknown[] = []) => ({
  text,
  values: [...values],
  query_timeout: SLOW_MAX_MS,
});

/** Raised with every change of the tables. */
export const LAYOUT = 1;
/** Two workers that begin at once make the tables one after the other. */
const LOCK = 7_041_963;

/** Makes the tables, unless they are there, and the archive's id. */
export async function createTables(client: PoolClient, id: string): Promise<void> {
  await client.query('begin');
  try {
    await client.query(slow('select pg_advisory_xact_lock($1)', [LOCK]));
    await client.query(slow(TABLES));
    await client.query(
      'insert into archive_state (layout, id, batch) values ($1, $2, 0) on conflict do nothing',
      [LAYOUT, id],
    );
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

/** A rank is the time in milliseconds, times this, plus something smaller (lua/lib/order.lua). */
const RANKS_PER_MS = 1_000;

export interface Month {
  readonly table: string;
  readonly from: number;
  readonly to: number;
}

/** The partition of a rank. */
export function monthOf(rank: number): Month {
  const at = new Date(rank / RANKS_PER_MS);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return {
    table: `archive_orders_${year}_${String(month + 1).padStart(2, '0')}`,
    from: Date.UTC(year, month) * RANKS_PER_MS,
    to: Date.UTC(year, month + 1) * RANKS_PER_MS,
  };
}

export async function createMonth(client: PoolClient, { table, from, to }: Month): Promise<void> {
  await client.query('begin');
  try {
    await client.query(slow('select pg_advisory_xact_lock($1)', [LOCK]));
    await client.query(
      slow(
        `create table if not exists ${table} partition of archive_orders for values from (${from}) to (${to})`,
      ),
    );
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}
