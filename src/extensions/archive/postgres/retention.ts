import type { PoolClient } from 'pg';
import { inTransaction, LOCK, monthOf, SHORT_WAIT, slow, TABLE_NAMES } from './schema';
import { KINDS, tableOf } from './size';

const MONTH = /_(\d{4})_(\d{2})$/;

/** Deletes the partitions of the months that end before a time, all or none. Returns how many rows they had. */
export const dropMonths = (client: PoolClient, beforeMs: number): Promise<number> =>
  inTransaction(client, async () => {
    await client.query(slow('select pg_advisory_xact_lock($1)', [LOCK]));
    const due = (await months(client)).filter(({ toMs }) => toMs <= beforeMs);
    if (due.length === 0) return 0;
    await client.query(slow(SHORT_WAIT));
    let gone = 0;
    for (const { name } of due) {
      for (const kind of KINDS) {
        const { rows } = await client.query(slow(`select count(*) as rows from ${tableOf(kind)}_${name}`));
        const count = Number(rows[0].rows);
        gone += count;
        await client.query(slow(`update archive_state set dropped_${kind} = dropped_${kind} + $1`, [count]));
      }
      for (const table of TABLE_NAMES) await client.query(slow(`drop table ${table}_${name}`));
    }
    const upTo = Math.max(...due.map(({ toMs }) => toMs));
    await client.query(slow('update archive_state set dropped_ms = greatest(dropped_ms, $1)', [upTo]));
    return gone;
  });

/** Every month has a partition in each table. */
async function months(client: PoolClient) {
  const { rows } = await client.query(
    slow(`select relname from pg_inherits join pg_class on pg_class.oid = inhrelid
          where inhparent = 'archive_orders'::regclass`),
  );
  return rows.flatMap(({ relname }) => {
    const [, year, month] = MONTH.exec(relname) ?? [];
    return year && month ? [monthOf(Date.UTC(Number(year), Number(month) - 1))] : [];
  });
}
