import { isFinal } from '../../../exchange/status';
import type { ArchivedOrder } from '../../../store/lists/archived-reads';
import { isBefore, type StreamPlace, type WalletPlace } from '../../../store/lists/places';
import { FORGOTTEN, LEFT } from '../../../store/records/layout';
import { decodeOrder, hashHex, type OrderRecord } from '../../../store/records/order';
import { archivedOf } from '../store/leaving';
import type { Verifying } from './verify';

const STEP = 1_000;
const WALLETS_STEP = 500;

/**
 * Each row is an order that is final, filed under its own wallet, market and rank, whose matches have left before it, and no other
 * than the one that Redis has where it has it, too. Each wallet has as many as left Redis. Returns how many there are.
 */
export async function verifyOrders(options: Verifying): Promise<number> {
  const { redis, keys, archive, findings } = options;
  const before = await forgotten(options);
  const leftOf = createLeftOf(options);
  const counted = new Map<string, number>();
  let [orders, behind]: [number, WalletPlace | null] = [0, null];
  for (;;) {
    const rows = await archive.walk(behind, STEP);
    if (rows.length === 0) break;
    const here = await redis.hmgetBuffer(keys.orders, ...rows.map(({ hash }) => hash));
    for (const [i, row] of rows.entries()) {
      const packed = here[i] ?? null;
      const detail = (await problemOf(row)) ?? (packed && !packed.equals(row.record) ? OTHER : null);
      const at = { marketId: row.marketId, orderHash: hashHex(row.hash) };
      if (detail) findings.add({ kind: 'ORDER_RECORD', ...at, detail });
      const wallet = row.wallet.toString('latin1');
      if (!packed) counted.set(wallet, (counted.get(wallet) ?? 0) + 1);
    }
    orders += rows.length;
    behind = rows.at(-1) ?? null;
  }
  await compareCounts(options, before, counted);
  return orders;

  async function problemOf(row: ArchivedOrder): Promise<string | null> {
    const record = readOrder(row);
    if (record instanceof Error) return record.message;
    if (!isFinal(record.status)) return `it is ${record.status}`;
    const { wallet, rank, marketId } = archivedOf({ hash: row.hash, packed: row.record });
    if (!wallet.equals(row.wallet) || rank !== row.rank || marketId !== row.marketId)
      return 'it is filed under another wallet, rank or market';
    const last = { tradeMs: record.fillMs, sequence: record.fillSequence };
    if (record.fillCount === 0 || !(await leftOf.isBefore(marketId, last))) return null;
    const isHere = (await redis.hexists(keys.orders, row.hash)) === 1;
    return isHere ? null : 'it left Redis before its matches';
  }
}

const OTHER = 'Redis has another order of this hash';

function readOrder({ hash, record }: ArchivedOrder): OrderRecord | Error {
  try {
    return decodeOrder(hashHex(hash), record);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** The places up to which the matches of markets have left. They only rise, so one that suffices is not read again. */
function createLeftOf({ redis, keys }: Verifying) {
  const known = new Map<string, StreamPlace>();
  return {
    async isBefore(marketId: string, last: StreamPlace): Promise<boolean> {
      const seen = known.get(marketId);
      if (seen && !isBefore(seen, last)) return false;
      const [state, packed] = await redis.hmgetBuffer(keys.market(marketId), 's', 'f');
      // A market that has left itself has left with all of its matches.
      if (!state) return false;
      const left = LEFT.read(packed ?? Buffer.alloc(LEFT.bytes));
      known.set(marketId, left);
      return isBefore(left, last);
    },
  };
}

/** The number of orders of each wallet that left Redis. */
async function forgotten({ redis, keys }: Verifying): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  let cursor = '0';
  do {
    const [next, flat] = await redis.hscanBuffer(keys.forgotten, cursor, 'COUNT', WALLETS_STEP);
    for (let i = 0; i + 1 < flat.length; i += 2)
      found.set((flat[i] as Buffer).toString('latin1'), FORGOTTEN.get.orders(flat[i + 1] as Buffer));
    cursor = next.toString();
  } while (cursor !== '0');
  return found;
}

/** More may leave while the archive is read, and dropped months have some of them. */
async function compareCounts(
  options: Verifying,
  before: ReadonlyMap<string, number>,
  counted: ReadonlyMap<string, number>,
): Promise<void> {
  const after = await forgotten(options);
  for (const wallet of new Set([...after.keys(), ...counted.keys()])) {
    const [least, most, found] = [before.get(wallet) ?? 0, after.get(wallet) ?? 0, counted.get(wallet) ?? 0];
    if (found <= most && (found >= least || options.droppedMs > 0)) continue;
    options.findings.add({
      kind: 'ARCHIVE_ROWS',
      wallet: hashHex(Buffer.from(wallet, 'latin1')),
      name: 'orders',
      expected: String(least),
      found: String(found),
      detail: 'orders of the wallet in the archive, against those that left Redis',
    });
  }
}
