import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { Refusal } from '../../../exchange/errors';
import type { Archive, ArchiveRows, ArchiveState, Batch } from '../archive';
import { packed } from './arrays';
import { type ArchiveOptions, createConnection } from './connection';
import { factsOf } from './facts';
import { createReads } from './reads';
import { dropMonths } from './retention';
import { createMonth, createTables, inTransaction, LAYOUT, monthOf, slow, TABLE_NAMES } from './schema';
import { KINDS } from './size';

type StateRow = { readonly layout: number } & Readonly<
  Record<'id' | 'batch' | 'dropped_ms' | `dropped_${keyof ArchiveRows}`, string>
>;

/** Rows of each table, column by column: one statement for all of them. */
interface Insert {
  readonly rows: readonly object[];
  readonly text: string;
  /** Follows the text when some of the rows may be there. */
  readonly again: string;
  readonly columns: readonly (readonly unknown[])[];
}

/** Ranks are times in milliseconds, times this. */
const RANKS_PER_MS = 1_000;
const DAY_MS = 86_400_000;
/** PostgreSQL's code for a row that is there. */
const DUPLICATE = '23505';

/** The archive in PostgreSQL. */
export function createArchive(options: ArchiveOptions): Archive {
  const connection = createConnection(options);
  const { schema, rows, withClient, failure, breakOff, close } = connection;
  const months = new Set<string>();
  // Written when it is opened here; rows are added and deleted while no other process has opened it since.
  let claim: string | null = null;

  async function state(): Promise<ArchiveState | null> {
    const [found] = await rows<StateRow>({
      text: 'select * from archive_state',
      values: [],
      mayBeMissing: true,
    });
    if (!found) return null;
    if (found.layout !== LAYOUT) {
      throw new Refusal('UNAVAILABLE', `the archive has layout ${found.layout}; this program has ${LAYOUT}`);
    }
    return stateOf(found);
  }

  async function open(): Promise<ArchiveState> {
    if (!(await state())) await withClient((client) => createTables(client, randomUUID(), schema));
    const holder = randomUUID();
    // This waits for a transaction of the holder before.
    await withClient((client) => client.query(slow('update archive_state set holder = $1', [holder])));
    claim = holder;
    const opened = await state();
    if (!opened) throw new Error('the archive has no state after its tables were made');
    return opened;
  }

  async function makeMonths(times: readonly number[]): Promise<void> {
    const days = new Set(times.map((ms) => Math.floor(ms / DAY_MS)));
    for (const month of [...days].map((day) => monthOf(day * DAY_MS))) {
      if (months.has(month.name)) continue;
      await withClient((client) => createMonth(client, month));
      months.add(month.name);
    }
  }

  async function append(batch: number, added: Batch): Promise<boolean> {
    await makeMonths(timesOf(added));
    try {
      const holder = claim;
      return await withClient((client) => addAll(client, holder, batch, added));
    } catch (error) {
      // Another process may have dropped a month that this one made.
      months.clear();
      throw error;
    }
  }

  async function dropBefore(ms: number): Promise<number> {
    months.clear();
    return withClient((client) => dropMonths(client, ms));
  }

  async function cutBack(batch: number): Promise<number | null> {
    const holder = claim;
    return withClient((client) =>
      inTransaction(client, async () => {
        // This comes first: while rows are deleted, no other process opens it.
        const cut = await client.query(
          slow('update archive_state set batch = least(batch, $1) where holder = $2', [batch, holder]),
        );
        if (cut.rowCount !== 1) return null;
        let gone = 0;
        for (const table of TABLE_NAMES) {
          const { rowCount } = await client.query(slow(`delete from ${table} where batch > $1`, [batch]));
          gone += rowCount ?? 0;
        }
        return gone;
      }),
    );
  }

  return {
    ...createReads(connection),
    state,
    facts: () => factsOf(connection),
    open,
    append,
    cutBack,
    dropBefore,
    failure,
    breakOff,
    close,
  };
}

function stateOf(row: StateRow): ArchiveState {
  const dropped = Object.fromEntries(KINDS.map((kind) => [kind, Number(row[`dropped_${kind}`])]));
  return {
    id: row.id,
    batch: Number(row.batch),
    droppedMs: Number(row.dropped_ms),
    dropped: dropped as unknown as ArchiveRows,
  };
}

function timesOf({ orders, matches, settlements, lines, parts }: Batch): number[] {
  return [
    ...orders.map(({ rank }) => Math.floor(rank / RANKS_PER_MS)),
    ...matches.map(({ tradeMs }) => tradeMs),
    ...settlements.map(({ listMs }) => listMs),
    ...lines.map(({ atMs }) => atMs),
    ...parts.map(({ atMs }) => atMs),
  ];
}

/**
 * Nearly always all rows are new: without a look for those that are there PostgreSQL needs 22 us for an order instead of 33. A
 * record that stayed in Redis after an earlier batch had it comes again, and then the transaction is made once more.
 */
async function addAll(
  client: PoolClient,
  holder: string | null,
  batch: number,
  added: Batch,
): Promise<boolean> {
  const inserts = insertsOf(added);
  const insert = (isNew: boolean) => inTransaction(client, () => add(client, holder, batch, inserts, isNew));
  try {
    return await insert(true);
  } catch (error) {
    if ((error as { code?: string }).code !== DUPLICATE) throw error;
    return insert(false);
  }
}

/** A number that is not the next one adds nothing, and neither does who is not the holder. */
async function add(
  client: PoolClient,
  holder: string | null,
  batch: number,
  inserts: readonly Insert[],
  isNew: boolean,
): Promise<boolean> {
  const moved = await client.query(
    slow('update archive_state set batch = $1 where batch = $1 - 1 and holder = $2', [batch, holder]),
  );
  if (moved.rowCount !== 1) return false;
  for (const { rows, text, again, columns } of inserts) {
    if (rows.length === 0) continue;
    await client.query(slow(isNew ? text : `${text} ${again}`, [batch, ...columns.map(packed)]));
  }
  return true;
}

const insertsOf = (batch: Batch): Insert[] => [...insertsOfTrading(batch), ...otherInserts(batch)];

function insertsOfTrading({ orders, matches }: Batch): Insert[] {
  const fills = matches.flatMap((match) => match.orders.map(() => match));
  return [
    {
      rows: orders,
      text: `insert into archive_orders (batch, rank, hash, wallet, market, record)
        select $1, * from unnest($2::int8[], $3::bytea[], $4::bytea[], $5::text[], $6::bytea[])`,
      again: 'on conflict (hash, rank) do update set batch = excluded.batch, record = excluded.record',
      columns: [
        orders.map(({ rank }) => rank),
        orders.map(({ hash }) => hash),
        orders.map(({ wallet }) => wallet),
        orders.map(({ marketId }) => marketId),
        orders.map(({ record }) => record),
      ],
    },
    {
      rows: matches,
      text: `insert into archive_matches (batch, trade_ms, sequence, market, packed)
        select $1, * from unnest($2::int8[], $3::int8[], $4::text[], $5::bytea[])`,
      again:
        'on conflict (market, trade_ms, sequence) do update set batch = excluded.batch, packed = excluded.packed',
      columns: [...placesOf(matches), matches.map(({ packed }) => packed)],
    },
    {
      rows: fills,
      text: `insert into archive_fills (batch, trade_ms, sequence, market, hash)
        select $1, * from unnest($2::int8[], $3::int8[], $4::text[], $5::bytea[])`,
      again: 'on conflict (hash, trade_ms, sequence) do update set batch = excluded.batch',
      columns: [...placesOf(fills), matches.flatMap(({ orders: hashes }) => hashes)],
    },
  ];
}

function otherInserts({ settlements, lines, parts }: Batch): Insert[] {
  return [
    {
      rows: settlements,
      text: `insert into archive_settlements (batch, list_ms, list_index, sequence, part, market, record)
        select $1, * from unnest($2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::text[], $7::bytea[])`,
      again:
        'on conflict (list_ms, list_index) do update set batch = excluded.batch, record = excluded.record',
      columns: [
        settlements.map(({ listMs }) => listMs),
        settlements.map(({ listIndex }) => listIndex),
        settlements.map(({ sequence }) => sequence),
        settlements.map(({ part }) => part),
        settlements.map(({ marketId }) => marketId),
        settlements.map(({ record }) => record),
      ],
    },
    {
      rows: lines,
      text: `insert into archive_journal (batch, at_ms, entry, wallet, line)
        select $1, * from unnest($2::int8[], $3::int8[], $4::bytea[], $5::bytea[])`,
      again: 'on conflict (wallet, entry, at_ms) do update set batch = excluded.batch, line = excluded.line',
      columns: [
        lines.map(({ atMs }) => atMs),
        lines.map(({ entry }) => entry),
        lines.map(({ wallet }) => wallet),
        lines.map(({ line }) => line),
      ],
    },
    {
      rows: parts,
      text: `insert into archive_parts (batch, at_ms, market, part, name, value)
        select $1, * from unnest($2::int8[], $3::text[], $4::text[], $5::bytea[], $6::bytea[])`,
      again:
        'on conflict (market, part, name, at_ms) do update set batch = excluded.batch, value = excluded.value',
      columns: [
        parts.map(({ atMs }) => atMs),
        parts.map(({ marketId }) => marketId),
        parts.map(({ part }) => part),
        parts.map(({ name }) => name),
        parts.map(({ value }) => value),
      ],
    },
  ];
}

const placesOf = (
  rows: readonly { readonly tradeMs: number; readonly sequence: number; readonly marketId: string }[],
) => [
  rows.map(({ tradeMs }) => tradeMs),
  rows.map(({ sequence }) => sequence),
  rows.map(({ marketId }) => marketId),
];
