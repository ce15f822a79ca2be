import type { MarketId } from '../../exchange/market';
import { readUInt, writeUInt } from '../records/layout';
import { addressBytes, hashBytes, hashHex } from '../records/order';
import { NO_ENTRY } from '../redis/entry-id';
import type { Keys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';

/** The most events in one call of log_events, besides those of one more entry. */
export const EVENTS_MAX = 500;
/** Logs read in one call. */
const READ_MAX = 500;

/** An event of a wallet. The order, trade or balance that it names is read when it is sent. */
export type AccountEvent =
  | {
      readonly kind: 'order';
      readonly orderHash: string;
      /** The match that changed the order, if any. */
      readonly match: EventMatch | null;
      /** The maker of the fill that was settled; null for all fills of the order in that match. */
      readonly makerHash: string | null;
    }
  | {
      readonly kind: 'trade';
      readonly match: EventMatch;
      readonly makerHash: string;
      readonly role: 'TAKER' | 'MAKER';
    }
  | { readonly kind: 'balance' };

export interface EventMatch {
  readonly marketId: MarketId;
  readonly tradeMs: number;
  readonly sequence: number;
}

export interface NumberedEvent {
  readonly number: number;
  readonly event: AccountEvent;
}

/** The events of one wallet (its address in lower case), in their order. */
export type EventsByWallet = ReadonlyMap<string, readonly AccountEvent[]>;
/** The latest number of a wallet's log. */
export type Grown = readonly [address: string, number: number];

export type Logged =
  | { readonly code: 'OK'; readonly grown: readonly Grown[] }
  | { readonly code: 'BROKEN'; readonly logged: string }
  | { readonly code: 'IDLE' | 'HEARD' | 'DEPOSED' };

/** Writes an outbox into the open logs. */
export interface AccountLogWriter {
  /** Returns those whose logs are open. */
  opened(addresses: readonly string[]): Promise<ReadonlySet<string>>;
  /** Returns HEARD when any log is open, else IDLE. `logged` is the last entry of the outbox that the logs contain. */
  ask(token: string, logged: string): Promise<Logged>;
  /** Appends the events of the entries after `logged` up to `at`, under the lease of broadcasting. */
  append(token: string, logged: string, at: string, events: EventsByWallet): Promise<Logged>;
  /** Only with several partitions: entries at which a range must end, because some logs contain the outbox up to there. */
  bounds?(): readonly string[];
  /** Only with several partitions: false while some logs cannot be written, so that the others contain more. */
  isWhole?(): boolean;
}

/** The log of a wallet, as its sockets read it. */
export interface AccountLogReads {
  /** Opens the wallet's log, or keeps it open; the log misses no event from the number `first` on. */
  open(address: string): Promise<{ readonly first: number; readonly last: number }>;
  /** Returns the latest number of each log: null for one that is not open, undefined for one whose partition does not answer. */
  ends(addresses: readonly string[]): Promise<(number | null | undefined)[]>;
  /** Returns at most `most` events after a number, oldest first. */
  since(address: string, number: number, most: number): Promise<NumberedEvent[]>;
  /** Returns the number below which the wallet's log may miss events; 0 when it misses none. */
  gap(address: string): Promise<number>;
}

export interface AccountLogs extends AccountLogReads, AccountLogWriter {}

/** The packed form for the logs. */
export const packEvents = (events: readonly AccountEvent[]): Buffer => Buffer.concat(events.map(encode));

/** The logs that have grown, from the numbers that a script returns for them. */
export const grownOf = (addresses: readonly string[], numbers: readonly Buffer[]): Grown[] =>
  addresses.flatMap((address, i): Grown[] => {
    const number = Number(numbers[i] ?? '');
    return number > 0 ? [[address, number]] : [];
  });

/** A log expires this long after the last socket of its wallet was present. */
export const KEEP_MS = 3_600_000;

/** The numbered events of each wallet with private sockets, now or within the last hour. */
export function createAccountLogs({
  redis,
  run,
  keys,
}: {
  redis: RedisClient;
  run: RunScript;
  keys: Keys;
}): AccountLogs {
  const logOf = (address: string) => keys.accountLog(addressBytes(address));

  async function each<T>(addresses: readonly string[], read: (address: string) => Promise<T>): Promise<T[]> {
    const found: T[] = [];
    for (let from = 0; from < addresses.length; from += READ_MAX) {
      found.push(...(await Promise.all(addresses.slice(from, from + READ_MAX).map(read))));
    }
    return found;
  }

  async function write(token: string, logged: string, at: string, events: EventsByWallet): Promise<Logged> {
    const addresses = [...events.keys()];
    const [code, ...rest] = await run(
      'log_events',
      [keys.lease, keys.accountMarks, keys.outbox, ...addresses.map(logOf)],
      [token, logged, at, ...[...events.values()].map(packEvents)],
    );
    const name = code.toString();
    if (name === 'OK') return { code: name, grown: grownOf(addresses, rest) };
    if (name === 'BROKEN') return { code: name, logged: String(rest[0]) };
    return { code: name as 'IDLE' | 'HEARD' | 'DEPOSED' };
  }

  return {
    async open(address) {
      const [first, last] = await run(
        'open_log',
        [logOf(address), keys.accountMarks, keys.outbox],
        [KEEP_MS],
      );
      return { first: Number(first), last: Number(last) };
    },
    async opened(addresses) {
      const there = await each(addresses, (address) => redis.exists(logOf(address)));
      return new Set(addresses.filter((_, i) => there[i] === 1));
    },
    ends: (addresses) =>
      each(addresses, async (address) => {
        const [entry] = await redis.xrevrangeBuffer(logOf(address), '+', '-', 'COUNT', 1);
        return entry ? numberOf(entry[0]) : null;
      }),
    async since(address, number, most) {
      const entries = await redis.xrangeBuffer(logOf(address), `(${number}-0`, '+', 'COUNT', most);
      return entries.flatMap(([id, fields]): NumberedEvent[] => {
        const event = decode(fields[1] ?? Buffer.alloc(0));
        return event ? [{ number: numberOf(id), event }] : [];
      });
    },
    gap: async () => Number((await redis.hget(keys.accountMarks, 'gap')) ?? 0),
    ask: (token, logged) => write(token, logged, '', new Map()),
    append: (token, logged, at, events) => write(token, logged, at || NO_ENTRY, events),
  };
}

const numberOf = (id: Buffer): number => Number(id.toString('latin1').split('-')[0]);

/** EVENT_BYTES of lua/log_events.lua: kind, market, match, two hashes, role. Only this file reads it. */
const BYTES = 86;
const KINDS = ['', 'order', 'trade', 'balance'] as const;
const ROLES = ['', 'TAKER', 'MAKER'] as const;
const AT = { market: 1, tradeMs: 9, sequence: 15, order: 21, maker: 53, role: 85 } as const;
const NO_HASH = Buffer.alloc(32);

function encode(event: AccountEvent): Buffer {
  const packed = Buffer.alloc(BYTES);
  packed[0] = KINDS.indexOf(event.kind);
  if (event.kind === 'balance') return packed;
  if (event.match) {
    packed.write(event.match.marketId, AT.market, 'latin1');
    writeUInt(packed, event.match.tradeMs, AT.tradeMs, 6);
    writeUInt(packed, event.match.sequence, AT.sequence, 6);
  }
  if (event.kind === 'order') hashBytes(event.orderHash).copy(packed, AT.order);
  else packed[AT.role] = ROLES.indexOf(event.role);
  if (event.makerHash) hashBytes(event.makerHash).copy(packed, AT.maker);
  return packed;
}

/** Null for the entry that begins a log. */
function decode(packed: Buffer): AccountEvent | null {
  const kind = KINDS[packed[0] ?? 0];
  if (!kind) return null;
  if (kind === 'balance') return { kind };
  const hashAt = (at: number): Buffer => packed.subarray(at, at + NO_HASH.length);
  const match = {
    marketId: packed.toString('latin1', AT.market, AT.tradeMs) as MarketId,
    tradeMs: readUInt(packed, AT.tradeMs, 6),
    sequence: readUInt(packed, AT.sequence, 6),
  };
  const maker = hashAt(AT.maker);
  if (kind === 'trade') {
    const role = ROLES[packed[AT.role] ?? 0] || 'TAKER';
    return { kind, match, makerHash: hashHex(maker), role };
  }
  return {
    kind,
    orderHash: hashHex(hashAt(AT.order)),
    match: match.tradeMs > 0 ? match : null,
    makerHash: maker.equals(NO_HASH) ? null : hashHex(maker),
  };
}
