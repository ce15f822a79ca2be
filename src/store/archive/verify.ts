import type { Archive, WalletPlace } from '../../exchange/archive';
import { isFinal } from '../../exchange/status';
import { decodeOrder, hashHex } from '../records/order';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import { archivedOf } from './leaving';

export interface VerifyReport {
  readonly orders: number;
  /** The first of what is wrong. */
  readonly problems: readonly string[];
}

interface VerifyOptions {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly archive: Archive;
}

const STEP = 1_000;
const PROBLEMS_MAX = 100;

/**
 * Reads the whole archive: each row is an order that ended without a fill, under its own wallet, market and rank, and no other
 * than the one that Redis has where it has it, too. As many are there as left Redis.
 */
export async function verifyArchive({ redis, keys, archive }: VerifyOptions): Promise<VerifyReport> {
  const problems: string[] = [];
  const note = (hash: Buffer, what: string): void => {
    if (problems.length < PROBLEMS_MAX) problems.push(`${hashHex(hash)} ${what}`);
  };
  const forgotten = Number((await redis.hget(keys.archive, 'orders')) ?? 0);
  let [orders, behind]: [number, WalletPlace | null] = [0, null];
  for (;;) {
    const rows = await archive.walk(behind, STEP);
    if (rows.length === 0) break;
    const here = await redis.hmgetBuffer(keys.orders, ...rows.map(({ hash }) => hash));
    for (const [i, row] of rows.entries()) {
      const problem = problemOf(row);
      if (problem !== null) note(row.hash, problem);
      if (here[i] && !here[i].equals(row.record)) note(row.hash, 'is another order in Redis');
    }
    orders += rows.length;
    behind = rows.at(-1) ?? null;
  }
  if (orders < forgotten) problems.push(`${forgotten} orders left Redis, and ${orders} are in the archive`);
  return { orders, problems };
}

function problemOf(row: Awaited<ReturnType<Archive['walk']>>[number]): string | null {
  try {
    const record = decodeOrder(hashHex(row.hash), row.record);
    if (!isFinal(record.status) || record.fillCount > 0)
      return `is ${record.status} with ${record.fillCount} fills`;
    const { wallet, rank, marketId } = archivedOf({ hash: row.hash, packed: row.record });
    const fits = wallet.equals(row.wallet) && rank === row.rank && marketId === row.marketId;
    return fits ? null : 'is filed under another wallet, rank or market';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
