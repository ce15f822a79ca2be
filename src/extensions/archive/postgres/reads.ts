import type {
  ArchivedLine,
  ArchivedMatch,
  ArchivedOrder,
  ArchivedSettlement,
} from '../../../store/lists/archived-reads';
import type { ListPlace, StreamPlace, Stretch } from '../../../store/lists/places';
import type { ArchivedPart, ArchiveReads } from '../archive';
import type { Connection, Query } from './connection';
import { sizeOf, WALK_MAX_MS } from './size';

/** PostgreSQL's whole numbers of 8 bytes come as text; all of these are exact as numbers. */
interface OrderRow {
  readonly rank: string;
  readonly hash: Buffer;
  readonly wallet: Buffer;
  readonly market: string;
  readonly record: Buffer;
}
interface MatchRow {
  readonly market: string;
  readonly trade_ms: string;
  readonly sequence: string;
  readonly packed: Buffer;
}
interface SettlementRow {
  readonly list_ms: string;
  readonly list_index: number;
  readonly market: string;
  readonly sequence: string;
  readonly part: number;
  readonly record: Buffer;
}
interface LineRow {
  readonly wallet: Buffer;
  readonly entry: string;
  readonly at_ms: string;
  readonly line: Buffer;
}
interface PartRow {
  readonly at_ms: string;
  readonly market: string;
  readonly part: string;
  readonly name: Buffer;
  readonly value: Buffer;
}

const ORDER = 'select rank, hash, wallet, market, record from archive_orders';
const MATCH = 'select m.market, m.trade_ms, m.sequence, m.packed from archive_matches m';
const SETTLEMENT = 'select list_ms, list_index, market, sequence, part, record from archive_settlements';
const PART = 'select at_ms, market, part, name, value from archive_parts';
const LINE = 'select distinct on (entry) wallet, entry, at_ms, line from archive_journal';

/** The places of the orders in the question count from 1. */
const MATCHES_OF_ORDERS = `select asked.place, m.market, m.trade_ms, m.sequence, m.packed
  from unnest($1::bytea[], $2::int8[], $3::int8[]) with ordinality as asked (hash, to_ms, to_sequence, place)
  cross join lateral (select f.market, f.trade_ms, f.sequence from archive_fills f
    where f.hash = asked.hash and (f.trade_ms, f.sequence) <= (asked.to_ms, asked.to_sequence)
    order by f.trade_ms desc, f.sequence desc limit $4) own
  join archive_matches m using (market, trade_ms, sequence)
  order by asked.place, m.trade_ms desc, m.sequence desc`;

const query = (text: string, ...values: unknown[]): Query => ({ text, values });
const direction = ({ descending }: { readonly descending: boolean }): string => (descending ? 'desc' : 'asc');

export function createReads({ rows }: Connection): ArchiveReads {
  const orders = async (asked: Query): Promise<ArchivedOrder[]> => (await rows<OrderRow>(asked)).map(orderOf);
  const matches = async (asked: Query): Promise<ArchivedMatch[]> =>
    (await rows<MatchRow>(asked)).map(matchOf);
  const settlements = async (asked: Query): Promise<ArchivedSettlement[]> =>
    (await rows<SettlementRow>(asked)).map(settlementOf);
  const parts = async (asked: Query): Promise<ArchivedPart[]> => (await rows<PartRow>(asked)).map(partOf);

  return {
    orders: (hashes) => orders(query(`${ORDER} where hash = any($1::bytea[])`, hashes)),
    ofWallet: (wallet, behind, most) =>
      behind === null
        ? orders(query(`${ORDER} where wallet = $1 order by rank desc, hash limit $2`, wallet, most))
        : orders(
            query(
              `${ORDER} where wallet = $1 and rank <= $2 and (rank < $2 or hash > $3) order by rank desc, hash limit $4`,
              ...[wallet, behind.rank, behind.hash, most],
            ),
          ),
    matches: (refs) =>
      matches(
        query(
          `${MATCH} join unnest($1::text[], $2::int8[], $3::int8[]) as asked (market, trade_ms, sequence)
           using (market, trade_ms, sequence)`,
          refs.map(({ marketId }) => marketId),
          refs.map(({ tradeMs }) => tradeMs),
          refs.map(({ sequence }) => sequence),
        ),
      ),
    matchesOf: (marketId, stretch: Stretch<StreamPlace>) => {
      const { from, to, most } = stretch;
      const way = direction(stretch);
      return matches(
        query(
          `${MATCH} where market = $1 and (trade_ms, sequence) >= ($2, $3) and (trade_ms, sequence) <= ($4, $5)
           order by trade_ms ${way}, sequence ${way} limit $6`,
          ...[marketId, from.tradeMs, from.sequence, to.tradeMs, to.sequence, most],
        ),
      );
    },
    matchesOfOrders: async (asked, most) => {
      const found = await rows<MatchRow & { readonly place: string }>(
        query(
          MATCHES_OF_ORDERS,
          asked.map(({ hash }) => hash),
          asked.map(({ upTo }) => upTo.tradeMs),
          asked.map(({ upTo }) => upTo.sequence),
          most,
        ),
      );
      const lists = asked.map((): ArchivedMatch[] => []);
      for (const row of found) lists[Number(row.place) - 1]?.push(matchOf(row));
      return lists;
    },
    settlements: (keys) =>
      settlements(
        query(
          `${SETTLEMENT} join unnest($1::text[], $2::int8[], $3::int2[]) as asked (market, sequence, part)
           using (market, sequence, part)`,
          keys.map(({ marketId }) => marketId),
          keys.map(({ sequence }) => sequence),
          keys.map(({ part }) => part),
        ),
      ),
    settlementsOf: (marketId, stretch: Stretch<ListPlace>) => {
      const { from, to, most } = stretch;
      const way = direction(stretch);
      return settlements(
        query(
          `${SETTLEMENT} where ($1::text is null or market = $1)
             and (list_ms, list_index) >= ($2, $3) and (list_ms, list_index) <= ($4, $5)
           order by list_ms ${way}, list_index ${way} limit $6`,
          ...[marketId, from.listMs, from.listIndex, to.listMs, to.listIndex, most],
        ),
      );
    },
    lines: async (wallet, from, to) => {
      // A line that was replaced in Redis before it left is here under both times; the later batch has what left.
      const asked = query(
        `${LINE} where wallet = $1 and entry between $2 and $3 order by entry, batch desc`,
        wallet,
        from,
        to,
      );
      return (await rows<LineRow>(asked)).map(lineOf);
    },
    parts: (marketId, part, names) =>
      parts(
        query(`${PART} where market = $1 and part = $2 and name = any($3::bytea[])`, marketId, part, names),
      ),
    partsFrom: (marketId, part, from, most) =>
      parts(
        query(
          `${PART} where market = $1 and part = $2 and name >= coalesce((select name from archive_parts
             where market = $1 and part = $2 and name <= $3 order by name desc limit 1), ''::bytea)
           order by name limit $4`,
          ...[marketId, part, from, most],
        ),
      ),
    walk: (behind, most) =>
      orders({
        text: `${ORDER} where rank >= $1 and (rank > $1 or hash > $2) order by rank, hash limit $3`,
        values: [behind?.rank ?? 0, behind?.hash ?? Buffer.alloc(0), most],
        query_timeout: WALK_MAX_MS,
      }),
    size: () => sizeOf(rows),
  };
}

const orderOf = ({ rank, hash, wallet, market, record }: OrderRow): ArchivedOrder => ({
  hash,
  wallet,
  record,
  rank: Number(rank),
  marketId: market,
});

const matchOf = ({ market, trade_ms, sequence, packed }: MatchRow): ArchivedMatch => ({
  packed,
  marketId: market,
  tradeMs: Number(trade_ms),
  sequence: Number(sequence),
});

const settlementOf = (row: SettlementRow): ArchivedSettlement => ({
  marketId: row.market,
  listMs: Number(row.list_ms),
  listIndex: row.list_index,
  sequence: Number(row.sequence),
  part: row.part,
  record: row.record,
});

const lineOf = ({ wallet, entry, at_ms, line }: LineRow): ArchivedLine => ({
  wallet,
  line,
  entry: Number(entry),
  atMs: Number(at_ms),
});

const partOf = ({ at_ms, market, part, name, value }: PartRow): ArchivedPart => ({
  part,
  name,
  value,
  marketId: market,
  atMs: Number(at_ms),
});
