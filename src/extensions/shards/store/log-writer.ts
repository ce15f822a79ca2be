import {
  type AccountEvent,
  type AccountLogWriter,
  type EventsByWallet,
  type Grown,
  grownOf,
  type Logged,
  packEvents,
} from '../../../store/outbox/account-log';
import { readStreamRange } from '../../../store/outbox/stream-range';
import { addressBytes } from '../../../store/records/order';
import { isBefore, NO_ENTRY } from '../../../store/redis/entry-id';
import type { Keys } from '../../../store/redis/keys';
import { createHomeLogs, groupBy, type HomeLogs, type HomeLogsOptions } from './account-logs';
import { createHomeMarks, type HomeMarks } from './home-marks';

/** While no log is open, the marks may be this old. */
const SHARED_MS = 90;

interface LogWriterOptions extends HomeLogsOptions {
  /** The shard whose outbox is written into the logs. */
  readonly source: number;
  readonly logs: Pick<HomeLogs, 'homeOf' | 'openedAt'>;
  readonly marks: HomeMarks;
  /** Called when a home does not answer. */
  readonly onError: (error: Error) => void;
}

/** A shard that has open logs. */
interface Home {
  /** The mark that is stored there. */
  readonly logged: string;
  /** The logs have every event up to here. Without events the mark follows later. */
  done: string;
  /** Entries after the mark may have been trimmed before they were read. */
  isGap: boolean;
}

type Told = readonly [address: string, events: readonly AccountEvent[]];

/**
 * Writes the outbox of one shard into the logs of wallets, each at its home. Every home has a mark of this outbox and moves it
 * together with the events, from the mark that the caller knows; so each event is logged once, even if two processes write
 * and one of them dies. A home that does not answer does not stop the others: its events are read again once it does.
 */
export function createShardLogWriter(options: LogWriterOptions): AccountLogWriter {
  const { redis, run, shards, source, logs, marks, onError } = options;
  const outbox = shards[source] as Keys;
  const [loggedOf, seenOf] = [`${source}:logged`, `${source}:seen`];
  const homes = new Map<number, Home>();
  /** Homes that did not answer; `ask` looks at them again. */
  const away = new Set<number>();
  /** How many entries were ever added up to that one, where it is known. */
  let seen: { readonly id: string; readonly added: number | null } = { id: NO_ENTRY, added: null };

  function note(home: number, logged: string | null | undefined): void {
    if (!logged) homes.delete(home);
    else if (homes.get(home)?.logged !== logged) homes.set(home, { logged, done: logged, isGap: false });
  }

  function lose(home: number, error: Error): [] {
    if (!away.has(home)) onError(error);
    away.add(home);
    return [];
  }

  const answering = (): [number, Home][] => [...homes].filter(([home]) => !away.has(home));

  /** The entry up to which all logs have every event; null while none is open. */
  function place(): string | null {
    const ids = answering().map(([, { done }]) => done);
    return ids.length === 0 ? null : ids.reduce((a, b) => (isBefore(b, a) ? b : a));
  }

  function bounds(): string[] {
    const from = place();
    return answering().flatMap(([, { done }]) => (done === from ? [] : done));
  }

  async function ask(_token: string, logged: string): Promise<Logged> {
    const found = await marks.read(homes.size > 0 || away.size > 0 ? 0 : SHARED_MS);
    for (const [home, stored] of found.entries()) {
      if (stored === null) {
        away.add(home);
        continue;
      }
      away.delete(home);
      note(home, stored[loggedOf]);
      const { done } = homes.get(home) ?? {};
      if (done !== undefined && done === stored[loggedOf]) learn(done, stored[seenOf]);
    }
    await follow();
    const from = place();
    if (from === null) return { code: 'IDLE' };
    return from === logged ? { code: 'HEARD' } : { code: 'BROKEN', logged: from };
  }

  function learn(id: string, added: string | undefined): void {
    if (added && seen.id !== id) seen = { id, added: Number(added) };
  }

  /** Brings the marks to where the logs are, so that no entry after a mark is trimmed, and back to an outbox that lost its end. */
  async function follow(): Promise<void> {
    if (homes.size === 0) return;
    const { lastId } = (await readStreamRange(redis, outbox)) ?? { lastId: NO_ENTRY };
    await Promise.all(
      answering().map(async ([home, state]) => {
        if (isBefore(lastId, state.done)) Object.assign(state, { done: lastId, isGap: true });
        if (state.done !== state.logged) await write(home, state, state.done, []);
      }),
    );
  }

  /** Whether entries after `from` were trimmed, or lost, before they were read. */
  async function isTrimmed(from: string, at: string): Promise<boolean> {
    const [extent, entry] = await Promise.all([
      readStreamRange(redis, outbox),
      redis.xrangeBuffer(outbox.outbox, from, from),
    ]);
    const { added = 0, length = 0, lastId } = extent ?? {};
    const before = seen.id === from ? seen.added : null;
    seen = { id: at, added: at === lastId ? added : null };
    const trimmed = added - length;
    if (entry.length > 0) return false;
    // It is the last one that was trimmed, or it was lost with others: a Redis came back with older data.
    return before === null ? trimmed > 0 || from !== NO_ENTRY : trimmed !== before;
  }

  async function write(home: number, state: Home, at: string, told: readonly Told[]): Promise<Grown[]> {
    const keys = shards[home] as Keys;
    const addresses = told.map(([address]) => address);
    const added = seen.id === at && seen.added !== null ? seen.added : '';
    const reply = run(
      'log_shard_events',
      [keys.accountMarks, ...addresses.map((address) => keys.accountLog(addressBytes(address)))],
      [source, state.logged, at, added, Number(state.isGap), ...told.map(([, events]) => packEvents(events))],
    );
    const [code, ...rest] = await reply.catch((error: Error) => lose(home, error));
    const name = code?.toString();
    if (name === 'IDLE') homes.delete(home);
    else if (name === 'BROKEN') note(home, String(rest[0]));
    else if (name === 'OK') {
      homes.set(home, { logged: at, done: at, isGap: false });
      return grownOf(addresses, rest);
    }
    return [];
  }

  async function append(_token: string, logged: string, at: string, events: EventsByWallet): Promise<Logged> {
    const from = place();
    if (from === null) return { code: 'IDLE' };
    // A range that ends behind a mark would be logged twice up to the mark.
    if (from !== logged || bounds().some((bound) => isBefore(bound, at)))
      return { code: 'BROKEN', logged: from };
    const isGap = await isTrimmed(logged, at);
    const byHome = groupBy<Told, number>(events, ([address]) => logs.homeOf(address));
    const grown = await Promise.all(
      answering().map(async ([home, state]) => {
        // It contains this range already.
        if (!isBefore(state.done, at)) return [];
        state.isGap ||= isGap;
        const told = byHome.get(home) ?? [];
        if (told.length > 0 || state.isGap) return write(home, state, at, told);
        state.done = at;
        return [];
      }),
    );
    return { code: 'OK', grown: grown.flat() };
  }

  async function openedAt(home: number, addresses: readonly string[]): Promise<readonly string[]> {
    if (away.has(home)) return [];
    try {
      const found = [...(await logs.openedAt(home, addresses))];
      // The first log of a home was opened since `ask`.
      if (found.length > 0 && !homes.has(home)) {
        note(home, await redis.hget((shards[home] as Keys).accountMarks, loggedOf));
      }
      return found;
    } catch (error) {
      return lose(home, error as Error);
    }
  }

  return {
    ask,
    append,
    async opened(addresses) {
      const asked = [...groupBy(addresses, logs.homeOf)].map(([home, those]) => openedAt(home, those));
      return new Set((await Promise.all(asked)).flat());
    },
    bounds,
    isWhole: () => away.size === 0,
  };
}

/** The logs of wallets at their homes, and for each shard the writer of its outbox into them. */
export function openHomeLogs(
  options: HomeLogsOptions & { readonly onError: (error: Error, source: number) => void },
): { readonly accounts: HomeLogs; readonly writers: readonly AccountLogWriter[] } {
  const { shards } = options;
  const accounts = createHomeLogs(options);
  const marks = createHomeMarks(options);
  const writers = shards.map((_, source) =>
    createShardLogWriter({
      ...options,
      source,
      logs: accounts,
      marks,
      onError: (error) => options.onError(error, source),
    }),
  );
  return { accounts, writers };
}
