import { FORGOTTEN } from '../../../store/records/layout';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import { type LeavingLines, lineMs } from './leaving';

interface DueLinesOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** By the clock of Redis. */
  readonly now: () => number;
  readonly keepMs: number;
}

export interface DueLines {
  /** The journal of this wallet has lines that are old enough, and the journal's reader is past them. */
  note(wallet: Buffer): void;
  /** The next lines that may leave, and whether there are more at once. */
  next(): Promise<{ readonly journals: readonly LeavingLines[]; readonly more: boolean }>;
  /** How many wallets wait. */
  size(): number;
}

/** Maximum lines of one pass, minimum of one wallet, and maximum wallets. */
const [LINES_MAX, LINES_MIN, WALLETS_MAX] = [8_000, 10, 1_000];

export function createDueLines({ redis, keys, now, keepMs }: DueLinesOptions): DueLines {
  const waiting = new Set<string>();

  async function next() {
    const names = [...waiting.values()].slice(0, WALLETS_MAX);
    if (names.length === 0) return { journals: [], more: false };
    const wallets = names.map((name) => Buffer.from(name, 'latin1'));
    const most = Math.max(LINES_MIN, Math.ceil(LINES_MAX / wallets.length));
    // The count first: lines that leave in between are another holder's, and then nothing here is as it was.
    const counts = await redis.hmgetBuffer(keys.forgotten, ...wallets);
    const lists = await firstOf(wallets, most);
    const beforeMs = now() - keepMs;
    const journals: LeavingLines[] = [];
    for (const [i, wallet] of wallets.entries()) {
      const stored = lists[i] ?? [];
      const young = stored.findIndex((line) => lineMs(line) > beforeMs);
      const lines = young === -1 ? stored : stored.slice(0, young);
      const count = counts[i];
      if (lines.length > 0) journals.push({ wallet, from: count ? FORGOTTEN.get.lines(count) : 0, lines });
      // The others come with their own entries of the outbox.
      waiting.delete(names[i] as string);
      if (lines.length === most) waiting.add(names[i] as string);
    }
    return { journals, more: waiting.size > 0 };
  }

  /** The first lines of each journal. In one message: the messages would take longer than the reading. */
  async function firstOf(wallets: readonly Buffer[], most: number): Promise<Buffer[][]> {
    const pipeline = redis.pipeline();
    for (const wallet of wallets) pipeline.lrangeBuffer(keys.journal(wallet), 0, most - 1);
    const replies = (await pipeline.exec()) ?? [];
    return replies.map(([failure, lines]) => {
      if (failure) throw failure;
      return lines as Buffer[];
    });
  }

  return {
    note: (wallet) => void waiting.add(wallet.toString('latin1')),
    next,
    size: () => waiting.size,
  };
}
