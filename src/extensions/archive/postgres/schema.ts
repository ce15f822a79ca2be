import type { PoolClient } from 'pg';

/**
 * The tables of the archive. `record`, `packed` and `line` are bytes as the store packs them, so there is one decoder. Each table is
 * cut into months by its first time. `batch` is the number under which a row was added: see src/extensions/archive/store/.
 */
const TABLES = `
  create table if not exists archive_state (
    one boolean primary key default true check (one),
    layout int not null,
    id text not null,
    batch int8 not null,
    holder text,
    dropped_ms int8 not null default 0,
    dropped_orders int8 not null default 0,
    dropped_matches int8 not null default 0,
    dropped_settlements int8 not null default 0,
    dropped_lines int8 not null default 0,
    dropped_parts int8 not null default 0
  );
  create table if not exists archive_orders (
    rank int8 not null,
    hash bytea not null,
    wallet bytea not null,
    market text not null,
    batch int8 not null,
    record bytea not null,
    primary key (hash, rank)
  ) partition by range (rank);
  create index if not exists archive_orders_wallet on archive_orders (wallet, rank desc, hash);
  create table if not exists archive_matches (
    trade_ms int8 not null,
    sequence int8 not null,
    market text not null,
    batch int8 not null,
    packed bytea not null,
    primary key (market, trade_ms, sequence)
  ) partition by range (trade_ms);
  create table if not exists archive_fills (
    trade_ms int8 not null,
    sequence int8 not null,
    market text not null,
    batch int8 not null,
    hash bytea not null,
    primary key (hash, trade_ms, sequence)
  ) partition by range (trade_ms);
  create table if not exists archive_settlements (
    list_ms int8 not null,
    list_index int4 not null,
    sequence int8 not null,
    part int2 not null,
    market text not null,
    batch int8 not null,
    record bytea not null,
    primary key (list_ms, list_index)
  ) partition by range (list_ms);
  create index if not exists archive_settlements_name on archive_settlements (market, sequence, part);
  create index if not exists archive_settlements_market on archive_settlements (market, list_ms, list_index);
  create table if not exists archive_journal (
    at_ms int8 not null,
    entry int8 not null,
    wallet bytea not null,
    batch int8 not null,
    line bytea not null,
    primary key (wallet, entry, at_ms)
  ) partition by range (at_ms);
  create table if not exists archive_parts (
    at_ms int8 not null,
    market text not null,
    part text not null,
    name bytea not null,
    batch int8 not null,
    value bytea not null,
    primary key (market, part, name, at_ms)
  ) partition by range (at_ms);
`;

/** The partitioned tables, each with the unit of its first column in milliseconds. A rank is a time times 1,000 (lua/lib/order.lua). */
const PARTITIONED = {
  archive_orders: 1_000,
  archive_matches: 1,
  archive_fills: 1,
  archive_settlements: 1,
  archive_journal: 1,
  archive_parts: 1,
} as const;
export type Partitioned = keyof typeof PARTITIONED;
export const TABLE_NAMES = Object.keys(PARTITIONED) as Partitioned[];
/** Batches are deleted from their end only, and rows of a batch lie together. */
const BATCHES = TABLE_NAMES.map(
  (table) => `create index if not exists ${table}_batch on ${table} using brin (batch);`,
).join('\n');

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
export const LOCK = 7_041_963;

/**
 * A process that has ended may leave a connection behind that PostgreSQL thinks alive for hours, and its locks with it. And a PostgreSQL
 * that dies must have what left Redis.
 */
const BEGIN = `begin; set local idle_in_transaction_session_timeout = '30s';
  select set_config('synchronous_commit', 'on', true) where current_setting('synchronous_commit') = 'off'`;
/** How long tables of months wait for long reads such as pg_dump, because every other read waits behind them. */
export const SHORT_WAIT = "set local lock_timeout = '1s'";

/** All or nothing. */
export async function inTransaction<T>(client: PoolClient, work: () => Promise<T>): Promise<T> {
  await client.query(slow(BEGIN));
  try {
    const result = await work();
    await client.query(slow('commit'));
    return result;
  } catch (error) {
    // A connection that is lost cannot roll back; PostgreSQL does it then.
    await client.query(slow('rollback')).catch(() => undefined);
    throw error;
  }
}

/** Makes the tables, unless they are there, and the archive's id; and before them the schema of a shard that is not the first. */
export const createTables = (client: PoolClient, id: string, schema: string | null): Promise<void> =>
  inTransaction(client, async () => {
    await client.query(slow('select pg_advisory_xact_lock($1)', [LOCK]));
    if (schema !== null) await client.query(slow(`create schema if not exists ${schema}`));
    await client.query(slow(TABLES));
    await client.query(slow(BATCHES));
    await client.query(
      slow('insert into archive_state (layout, id, batch) values ($1, $2, 0) on conflict do nothing', [
        LAYOUT,
        id,
      ]),
    );
  });

export interface Month {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The month of a time, by UTC. */
export function monthOf(ms: number): Month {
  const at = new Date(ms);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return {
    name: `${year}_${String(month + 1).padStart(2, '0')}`,
    fromMs: Date.UTC(year, month),
    toMs: Date.UTC(year, month + 1),
  };
}

/**
 * Makes the partitions of a month, unless they are there. A table that is made first and attached then waits for no reader, and
 * none waits for it.
 */
export const createMonth = (client: PoolClient, { name, fromMs, toMs }: Month): Promise<void> =>
  inTransaction(client, async () => {
    await client.query(slow('select pg_advisory_xact_lock($1)', [LOCK]));
    await client.query(slow(SHORT_WAIT));
    for (const table of TABLE_NAMES) {
      const [unit, month] = [PARTITIONED[table], `${table}_${name}`];
      const { rows } = await client.query(slow('select to_regclass($1) is null as missing', [month]));
      if (!rows[0].missing) continue;
      await client.query(
        slow(`create table ${month} (like ${table} including all);
              alter table ${table} attach partition ${month} for values from (${fromMs * unit}) to (${toMs * unit})`),
      );
    }
  });
