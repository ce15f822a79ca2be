import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../log';
import type { OrderRecords } from '../../store/lists/orders';
import {
  type AccountEvent,
  type AccountLogWriter,
  EVENTS_MAX,
  type Grown,
  type Logged,
} from '../../store/outbox/account-log';
import type { OutboxEvent } from '../../store/outbox/outbox';
import type { OutboxEntry, OutboxReader } from '../../store/outbox/reader';
import type { BroadcastReads } from '../../store/outbox/update-log';
import type { Fill, OrderRecord } from '../../store/records/order';
import { isBefore, NO_ENTRY } from '../../store/redis/entry-id';
import type { Leadership } from './leadership';

const READ_MAX = 500;
const BLOCK_MS = 1_000;
/** The pause between two reads; changes within it are sent together. */
const PACE_MS = 20;
/** The pause while there is no private socket, or another process broadcasts. */
const IDLE_MS = 100;
const RETRY_MS = 200;
/** The interval of checks for private sockets, and while some logs cannot be written. */
const ASK_EVERY_MS = 10_000;
const ASK_AGAIN_MS = 500;
/** The most attempts for one batch: a failure of Redis passes, and an unreadable record must not block the later events. */
const FAILURES_MAX = 50;

export interface AccountWriterDeps {
  readonly accounts: AccountLogWriter;
  readonly reader: OutboxReader;
  readonly records: OrderRecords;
  readonly broadcasts: Pick<BroadcastReads, 'fills'>;
  readonly held: Leadership['held'];
  readonly log: Logger;
  /** Sends the names of the logs that have grown to all replicas, including this one. */
  readonly notify: (grown: readonly Grown[]) => void;
}

export interface AccountWriter {
  start(): void;
  stop(): Promise<void>;
}

/**
 * Writes the events of wallets into their logs while this process has the lease of broadcasting. One process numbers the
 * events of a wallet, so its sockets at all replicas receive the same numbers.
 */
export function createAccountWriter(deps: AccountWriterDeps): AccountWriter {
  const { accounts, reader, held, log, notify } = deps;
  let stopped = false;
  let ended: Promise<void> = Promise.resolve();
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let logged = '';
  let failures = 0;

  async function run(): Promise<void> {
    while (!stopped) {
      const lease = held();
      try {
        const pauseMs = lease ? await step(lease.token) : IDLE_MS;
        if (!stopped) await sleep(pauseMs);
      } catch (error) {
        if (stopped) return;
        failures++;
        log.warn({ err: String(error), at: logged }, 'the logs of wallets wait');
        await sleep(RETRY_MS);
      }
    }
  }

  /** The wait before the next step. */
  async function step(token: string): Promise<number> {
    const isWhole = accounts.isWhole?.() ?? true;
    if (performance.now() - askedAtMs >= (isWhole ? ASK_EVERY_MS : ASK_AGAIN_MS)) {
      const reply = known(await accounts.ask(token, logged));
      if (reply.code === 'HEARD') askedAtMs = performance.now();
      return reply.code === 'HEARD' || reply.code === 'BROKEN' ? 0 : IDLE_MS;
    }
    const entries = await reader.read(logged || NO_ENTRY, READ_MAX, BLOCK_MS);
    if (stopped) return 0;
    for (const part of await partsOf(entries)) {
      const reply = known(await accounts.append(token, logged, part.at, part.events));
      if (reply.code !== 'OK') return IDLE_MS;
      logged = part.at;
      failures = 0;
      if (reply.grown.length > 0) notify(reply.grown);
    }
    return entries.length < READ_MAX ? PACE_MS : 0;
  }

  function known(reply: Logged): Logged {
    // From before this process had the lease, or from another copy of the data.
    if ('logged' in reply) logged = reply.logged;
    if (reply.code !== 'OK' && reply.code !== 'HEARD') askedAtMs = Number.NEGATIVE_INFINITY;
    return reply;
  }

  /** The events of the entries, split where they are too many for one script. */
  async function partsOf(entries: readonly OutboxEntry[]) {
    const touched = await deps.records([...new Set(entries.flatMap(({ event }) => event.orderHashes))]);
    const heard = await accounts.opened([
      ...new Set(entries.flatMap(({ event }) => walletsOf(event, touched))),
    ]);
    const isHeard = (event: OutboxEvent) => walletsOf(event, touched).some((address) => heard.has(address));
    const events = await Promise.all(
      entries.map(({ event }) => (isHeard(event) && failures < FAILURES_MAX ? eventsOf(event, touched) : [])),
    );
    const bounds = accounts.bounds?.() ?? [];
    const isBetween = (a: string, b: string): boolean =>
      bounds.some((bound) => !isBefore(bound, a) && isBefore(bound, b));
    const parts = skipped(bounds, entries[0]?.id).map(partAt);
    for (const [i, { id }] of entries.entries()) {
      const last = parts.at(-1);
      const goesOn = last && last.count < EVENTS_MAX && !isBetween(last.at, id);
      const part = goesOn ? last : partAt(id);
      if (part !== last) parts.push(part);
      part.at = id;
      for (const [address, happened] of events[i] ?? []) {
        if (!heard.has(address)) continue;
        part.events.set(address, [...(part.events.get(address) ?? []), happened]);
        part.count++;
      }
    }
    return parts;
  }

  /** The bounds before the first entry that is left: the entries up to them were trimmed, or lost. */
  function skipped(bounds: readonly string[], first: string | undefined): string[] {
    const isSkipped = (bound: string): boolean =>
      first !== undefined && isBefore(logged || NO_ENTRY, bound) && isBefore(bound, first);
    return [...new Set(bounds.filter(isSkipped))].sort((a, b) => (isBefore(a, b) ? -1 : 1));
  }

  async function eventsOf(event: OutboxEvent, touched: Touched): Promise<[string, AccountEvent][]> {
    const { kind, marketId, tradeMs, sequence, orderHashes } = event;
    const match = tradeMs > 0 ? { marketId, tradeMs, sequence } : null;
    const fills = match ? await deps.broadcasts.fills(marketId, [match]) : [];
    const makerOf = (orderHash: string): string | undefined => touched.get(orderHash)?.maker;
    const events: [string, AccountEvent][] = [];
    const tellOf = (address: string | undefined, happened: AccountEvent): void => {
      if (address !== undefined) events.push([address, happened]);
    };
    if (kind === 'SETTLE') {
      const settled = new Set(orderHashes);
      for (const { takerHash, makerHash } of fills.filter((fill: Fill) => settled.has(fill.makerHash))) {
        for (const orderHash of new Set([takerHash, makerHash])) {
          tellOf(makerOf(orderHash), { kind: 'order', orderHash, match, makerHash });
        }
      }
      // A change of a settlement moves no money in the ledger.
      return events;
    }
    for (const orderHash of orderHashes) {
      tellOf(makerOf(orderHash), { kind: 'order', orderHash, match, makerHash: null });
    }
    for (const { takerHash, makerHash } of match ? fills : []) {
      if (!match) continue;
      tellOf(makerOf(takerHash), { kind: 'trade', match, makerHash, role: 'TAKER' });
      tellOf(makerOf(makerHash), { kind: 'trade', match, makerHash, role: 'MAKER' });
    }
    for (const address of new Set(walletsOf(event, touched))) tellOf(address, { kind: 'balance' });
    return events;
  }

  return {
    start: () => {
      ended = run();
    },
    stop: async () => {
      stopped = true;
      // A read that is still waiting changes nothing.
      await Promise.race([ended, sleep(PACE_MS)]);
    },
  };
}

/** Entries that are logged together. */
interface Part {
  at: string;
  count: number;
  readonly events: Map<string, AccountEvent[]>;
}

const partAt = (at: string): Part => ({ at, count: 0, events: new Map() });

type Touched = ReadonlyMap<string, OrderRecord>;

const walletsOf = ({ orderHashes, wallets }: OutboxEvent, touched: Touched): string[] => [
  ...orderHashes.flatMap((hash) => touched.get(hash)?.maker ?? []),
  ...wallets,
];
