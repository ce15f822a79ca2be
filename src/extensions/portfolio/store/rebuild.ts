import { randomUUID } from 'node:crypto';
import type { MarketId } from '../../../exchange/market';
import { type ArchivedReads, NO_ARCHIVED_READS } from '../../../store/lists/archived-reads';
import { decodeResolution } from '../../../store/records/market';
import { addressBytes } from '../../../store/records/order';
import type { Keys } from '../../../store/redis/keys';
import { readRun } from '../../../store/redis/run';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import type { Matches } from '../../../store/settlement/matches';
import { type Change, changed } from '../position';
import { endGap, hasHolders, type Journal, noteHolders } from './journal';
import { createKnownLines, isSameLines, mergeLines } from './lines';
import { NO_POSITIONS, type Positions, packPositions, unpackEntry } from './records';
import { changeOf, salesFirst, sidesOf } from './sides';
import { createStoredLines, LINES_MAX } from './stored';

interface RebuildOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  readonly matches: Pick<Matches, 'load'>;
  readonly journal: Pick<Journal, 'catchUp' | 'changesOf' | 'gap'>;
  /** Without it nothing has left Redis. */
  readonly archivedReads?: ArchivedReads;
}

const HOW_TO_GO_ON =
  'the archive is not rewritten: see exchange archive verify, and put back a copy of PostgreSQL that is right';

/** The lines of a journal that are in the archive are not those that its orders say. These are not rewritten. */
export class ArchivedPartDiffers extends Error {}

export interface JournalRebuild {
  /** Returns what ends the gap that there is now, once every wallet has been rebuilt (lua/start_reader.lua). */
  begin(): Promise<() => Promise<void>>;
  /** Returns every wallet that ever had a balance, in the order of the addresses. */
  wallets(): Promise<string[]>;
  /** Returns whether the wallet had any error. Throws ArchivedPartDiffers; then the wallet is as before. */
  rebuild(address: string): Promise<boolean>;
}

/** The journal of one wallet during its correction. */
interface Work {
  readonly wallet: Buffer;
  /** The run of Redis from which it is read. */
  readonly from: Buffer;
  /** The lines of its matches. */
  readonly trades: readonly Buffer[];
  readonly positions: (lines: readonly Buffer[]) => Promise<Map<MarketId, Buffer>>;
}

/** The changes of the part of a journal that is in Redis (src/extensions/portfolio/lua/rebuild_journal.lua). */
const [UNCHANGED, REPLACED, EMPTIED] = [0, 1, 2];
/** The most times that a wallet's journal may change during its correction. */
const TRIES_MAX = 20;
const STEP = 500;
const MATCHES_STEP = 50;
/** A new list that never replaced the old one expires. */
const UNFINISHED_SEC = 3_600;

/**
 * Corrects a wallet's journal from its matches, its payouts and the lines of its other moves, while the exchange runs. It
 * corrects one wallet at a time, so it can be interrupted at any time and started again.
 */
export function createJournalRebuild({
  redis,
  run,
  keys,
  matches,
  journal,
  archivedReads = NO_ARCHIVED_READS,
}: RebuildOptions): JournalRebuild {
  const known = createKnownLines({ redis, run, keys, archivedReads });
  const openLines = createStoredLines({ run, keys, archivedReads });

  async function begin(): Promise<() => Promise<void>> {
    // From here on the journal records every entry.
    await journal.catchUp();
    const gap = await journal.gap();
    return async () => {
      if (gap !== null) await endGap({ redis, keys }, gap);
      await noteHolders({ redis, keys });
    };
  }

  async function wallets(): Promise<string[]> {
    const found = new Set<string>();
    let cursor = '0';
    do {
      const [next, flat] = await redis.hscanBuffer(keys.cash, cursor, 'COUNT', STEP);
      for (let i = 0; i < flat.length; i += 2) {
        const account = flat[i] as Buffer;
        if (account.length === 20) found.add(`0x${account.toString('hex')}`);
      }
      cursor = next.toString();
    } while (cursor !== '0');
    return [...found].sort();
  }

  async function rebuild(address: string): Promise<boolean> {
    let work = await open(address);
    for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
      const outcome = await tryOnce(work);
      if (outcome !== null) return outcome;
      if (!work.from.equals(await readRun(run, keys))) work = await open(address);
    }
    throw new Error(`the journal of ${address} changes faster than it can be put right: go on from there`);
  }

  /** The slow work is done once, because from now on the journal records trades. */
  async function open(address: string): Promise<Work> {
    const wallet = addressBytes(address);
    const from = await readRun(run, keys);
    return { wallet, from, trades: await known.matchesOf(wallet), positions: createPositions(address) };
  }

  /** Returns null when the wallet's journal has changed meanwhile. */
  async function tryOnce({ wallet, from, trades, positions: worked }: Work): Promise<boolean | null> {
    const rebuilt = (await redis.hget(keys.sums, 'rebuilt')) ?? '';
    const named = [...trades, ...(await stored(wallet)).lines];
    const lines = [...trades, ...(await known.payoutsOf(wallet, named, endOf))];
    // Those of these entries that are still in the outbox are recorded now; a later entry cannot be missing.
    await journal.catchUp();
    const { left, lines: old } = await stored(wallet);
    const merged = mergeLines(old, lines);
    checkArchived(old.slice(0, left), merged);
    const positions = await worked(merged);
    const isReplaced = !isSameLines(old, merged);
    const before = await redis.hgetallBuffer(keys.positions(wallet));
    const isSame =
      Object.keys(before).length === positions.size &&
      [...positions].every(([id, packed]) => before[id]?.equals(packed));
    const isWrong = !isSame || isReplaced;
    if (!isWrong && (await hasHolders({ redis, keys }))) return false;
    const list = keys.journalDraft(wallet, randomUUID());
    const rest = merged.slice(left);
    const change = isReplaced ? (rest.length > 0 ? REPLACED : EMPTIED) : UNCHANGED;
    if (isReplaced) await writeAside(list, rest);
    const [current, held] = [keys.journal(wallet), keys.positions(wallet)];
    const scriptKeys = [keys.sums, current, held, list, keys.forgotten] as const;
    const seen = [from, rebuilt, old.length - left, change, wallet, left, keys.prefix] as const;
    const args = [...seen, ...[...positions].flat()] as const;
    const done = (await run('rebuild_journal', scriptKeys, args)) === 1;
    if (!done) await redis.del(list);
    return done ? isWrong : null;
  }

  /** Returns all lines of a journal, oldest first, and how many of them had left Redis. */
  async function stored(wallet: Buffer): Promise<{ readonly left: number; readonly lines: Buffer[] }> {
    const { left, length, read } = await openLines(wallet);
    const lines: Buffer[] = [];
    for (let from = 0; from < length; from += LINES_MAX) {
      for (const line of await read(from, Math.min(length, from + LINES_MAX))) {
        if (!line)
          throw new ArchivedPartDiffers(
            'lines of its journal were dropped from the archive for their age, so its positions cannot be computed again',
          );
        lines.push(line);
      }
    }
    return { left, lines };
  }

  async function writeAside(list: Buffer, lines: readonly Buffer[]): Promise<void> {
    for (let from = 0; from < lines.length; from += STEP) {
      await redis.rpush(list, ...lines.slice(from, from + STEP));
      await redis.expire(list, UNFINISHED_SEC);
    }
  }

  /** A wallet's positions according to its lines; the walk continues after the requested ones. */
  function createPositions(address: string): Work['positions'] {
    const wallet = address.toLowerCase();
    let worked: readonly Buffer[] = [];
    let positions = new Map<MarketId, Positions>();
    const apply = (id: MarketId, outcome: number, change: Change, atMs: number): void => {
      const [yes, no] = positions.get(id) ?? NO_POSITIONS;
      positions.set(id, outcome === 0 ? [changed(yes, change, atMs), no] : [yes, changed(no, change, atMs)]);
    };

    async function applyAll(lines: readonly Buffer[]): Promise<void> {
      const entries = lines.map(unpackEntry);
      const refs = entries.flatMap((entry) => (entry.type === 'TRADE' ? [entry.ref] : []));
      const loaded = await matches.load(refs);
      for (const entry of entries) {
        if (entry.type === 'TRADE') {
          const match = loaded[refs.indexOf(entry.ref)];
          if (!match || match instanceof Error) {
            // Redis may have lost it; what is in an archive can be put back.
            if (archivedReads === NO_ARCHIVED_READS) continue;
            throw new ArchivedPartDiffers(`${match?.message ?? 'a match is missing'}; ${HOW_TO_GO_ON}`);
          }
          for (const side of salesFirst(sidesOf(match))) {
            const { maker, marketId, outcome } = side.order;
            if (maker === wallet) apply(marketId, outcome, changeOf(side), entry.ref.tradeMs);
          }
        } else {
          const changes = await journal.changesOf(entry.marketId, entry.move);
          for (const [outcome, change] of changes.entries()) {
            apply(entry.marketId, outcome, change, entry.atMs);
          }
        }
      }
    }

    return async (lines) => {
      if (!worked.every((line, i) => lines[i]?.equals(line))) {
        worked = [];
        positions = new Map();
      }
      for (let from = worked.length; from < lines.length; from += MATCHES_STEP) {
        await applyAll(lines.slice(from, from + MATCHES_STEP));
      }
      worked = lines;
      return new Map([...positions].map(([id, both]) => [id, packPositions(both)]));
    };
  }

  async function endOf(id: MarketId): Promise<number> {
    const packed = await redis.hgetBuffer(keys.market(id), 'r');
    if (!packed) throw new Error(`market ${id} was paid out and has not ended`);
    return decodeResolution(packed).resolvedAtMs;
  }

  return { begin, wallets, rebuild };
}

function checkArchived(archived: readonly Buffer[], merged: readonly Buffer[]): void {
  const wrong = archived.findIndex((line, i) => !merged[i]?.equals(line));
  if (wrong === -1) return;
  throw new ArchivedPartDiffers(
    `line ${wrong} of its journal is in the archive and is not what its orders say; ${HOW_TO_GO_ON}`,
  );
}
