import { decodeEvent, type OutboxEvent } from '../../../src/store/outbox/outbox';
import { isNetField } from '../../../src/store/records/account';
import { readUInt } from '../../../src/store/records/layout';
import {
  addressBytes,
  decodeFills,
  decodeOrder,
  type Fill,
  hashBytes,
  hashHex,
  type OrderRecord,
} from '../../../src/store/records/order';
import type { Keys } from '../../../src/store/redis/keys';
import type { RunScript } from '../../../src/store/redis/scripts';
import type { ScriptArgument } from '../../../src/store/redis/verbs';

/**
 * Everything that the engine stores, read in one step; the headers of lua/lib name the keys. A section whose digest the
 * caller knows is not sent again, because most operations change little.
 */
export const READ_STATE = 'read_state';
export const READ_STATE_SOURCE = `#!lua flags=no-writes
local shard, market_count, wallet_count = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local news = tonumber(ARGV[4])
local at = 5
local function next_argument()
  at = at + 1
  return ARGV[at - 1]
end
local function section(data)
  local digest = redis.sha1hex(cmsgpack.pack(data))
  return { digest, digest ~= next_argument() and data or '' }
end
local reply = {
  redis.call('HLEN', shard .. 'o'), redis.call('XLEN', shard .. 'out'),
  news > 0 and redis.call('XREVRANGE', shard .. 'out', '+', '-', 'COUNT', news) or {},
  section({ redis.call('HGETALL', shard .. 'bal'), redis.call('HGET', shard .. 'sum', 'granted') or '0',
    redis.call('ZRANGE', shard .. 'exp', 0, -1, 'WITHSCORES'), redis.call('SMEMBERS', shard .. 'ending') }),
}
for _ = 1, market_count do
  local key = shard .. 'm:' .. next_argument()
  reply[#reply + 1] = section({
    redis.call('HGETALL', key), redis.call('ZRANGE', key .. ':b', 0, -1, 'WITHSCORES'),
    redis.call('ZRANGE', key .. ':a', 0, -1, 'WITHSCORES'), redis.call('HGETALL', key .. ':bal'),
    redis.call('XLEN', key .. ':t'), redis.call('XREVRANGE', key .. ':t', '+', '-', 'COUNT', 1),
    redis.call('HGETALL', key .. ':paid'),
  })
end
for _ = 1, wallet_count do
  local address = next_argument()
  reply[#reply + 1] = section({
    redis.call('ZRANGEBYSCORE', shard .. 'u:' .. address, '(0', '+inf', 'WITHSCORES'),
    redis.call('ZCARD', shard .. 'u:' .. address), redis.call('SMEMBERS', shard .. 'w:' .. address),
  })
end
local hashes = {}
while at <= #ARGV do
  hashes[#hashes + 1] = next_argument()
end
reply[#reply + 1] = #hashes > 0 and redis.call('HMGET', shard .. 'o', unpack(hashes)) or {}
return reply
`;

export interface StoredMarket {
  /** Counters as text, named as in STATE. */
  readonly fields: ReadonlyMap<string, string>;
  /** 'b6200' -> '<lots>/<orders>'. */
  readonly levels: ReadonlyMap<string, string>;
  /** Hashes with their scores, in the order of the sorted set. */
  readonly bids: readonly (readonly [hash: string, score: number])[];
  readonly asks: readonly (readonly [hash: string, score: number])[];
  /** Address -> Yes free, Yes reserved, No free, No reserved. */
  readonly tokens: ReadonlyMap<string, readonly bigint[]>;
  readonly matches: number;
  readonly lastMatch: readonly Fill[];
  /** Account -> Yes, No and the payout. */
  readonly paid: ReadonlyMap<string, readonly bigint[]>;
}
export interface StoredWallet {
  readonly open: readonly (readonly [hash: string, score: number])[];
  readonly orders: number;
  readonly markets: readonly string[];
}
export interface StoredMoney {
  /** Address -> free, reserved. */
  readonly cash: ReadonlyMap<string, readonly bigint[]>;
  readonly nonces: ReadonlyMap<string, number>;
  readonly granted: bigint;
  readonly ending: readonly string[];
  readonly expiries: readonly (readonly [hash: string, second: number])[];
}
export interface StoredState {
  readonly orderCount: number;
  readonly outboxLength: number;
  /** The latest entries asked for, oldest first. */
  readonly news: readonly OutboxEvent[];
  /** Unchanged sections are the same objects as in the last read. */
  readonly money: StoredMoney;
  readonly markets: readonly StoredMarket[];
  readonly wallets: readonly StoredWallet[];
  /** The orders asked for. */
  readonly records: readonly (OrderRecord | null)[];
}
export interface Wanted {
  readonly markets: readonly string[];
  readonly wallets: readonly string[];
  readonly hashes: readonly string[];
  readonly news: number;
}
/** Sections as last read, by name. */
export type Memory = Map<string, { readonly digest: string; readonly value: unknown }>;

type Entries = readonly [Buffer, readonly [Buffer, Buffer]][];
type Section = [Buffer, unknown[] | Buffer];
type MoneyReply = [Buffer[], Buffer, Buffer[], Buffer[]];
type MarketReply = [Buffer[], Buffer[], Buffer[], Buffer[], number, Entries, Buffer[]];
type WalletReply = [Buffer[], number, Buffer[]];

/** `run` must know the script READ_STATE. */
export async function readState(
  run: RunScript,
  keys: Keys,
  wanted: Wanted,
  memory: Memory = new Map(),
): Promise<StoredState> {
  const { markets, wallets, hashes, news } = wanted;
  const known = (name: string): string => memory.get(name)?.digest ?? '';
  const args = [
    ...[keys.prefix, markets.length, wallets.length, news, known('money')],
    ...markets.flatMap((id) => [id, known(id)]),
    ...wallets.flatMap((address) => [addressBytes(address), known(address)]),
    ...hashes.map(hashBytes),
  ];
  // The table of verbs does not have this script of the tests.
  const runAny = run as unknown as (name: string, keys: string[], args: ScriptArgument[]) => Promise<unknown>;
  const reply = (await runAny(READ_STATE, [keys.orders], args)) as unknown[];
  const [orderCount, outboxLength, entries, ...sections] = reply as [number, number, Entries, ...Section[]];
  function read<T, Raw>(index: number, name: string, decode: (raw: Raw) => T): T {
    const [digest, raw] = sections[index] as Section;
    const value = Array.isArray(raw) ? decode(raw as Raw) : (memory.get(name)?.value as T);
    memory.set(name, { digest: digest.toString(), value });
    return value;
  }
  const packed = reply.at(-1) as (Buffer | null)[];
  return {
    orderCount,
    outboxLength,
    news: entries.map(([, [, entry]]) => decodeEvent(entry)).reverse(),
    money: read(0, 'money', storedMoney),
    markets: markets.map((id, i) => read(1 + i, id, storedMarket)),
    wallets: wallets.map((address, i) => read(1 + markets.length + i, address, storedWallet)),
    records: hashes.map((hash, i) => {
      const found = packed[i];
      return found ? decodeOrder(hash, found) : null;
    }),
  };
}

function storedMoney([all, granted, expiries, ending]: MoneyReply): StoredMoney {
  const cash = [...pairs(all)].filter(([account]) => !isNetField(account)).flat();
  const nonces = [...pairs(cash)].map(([who, packed]) => [hashHex(who), packed.readUInt32BE(14)] as const);
  return {
    cash: accounts(cash, 2),
    nonces: new Map(nonces),
    ending: ending.map(String).sort(),
    granted: BigInt(granted.toString()),
    expiries: scored(expiries, 0),
  };
}

function storedWallet([open, orders, markets]: WalletReply): StoredWallet {
  return { open: scored(open, 0), orders, markets: markets.map(String).sort() };
}

function storedMarket([hash, bids, asks, tokens, matches, last, paid]: MarketReply): StoredMarket {
  const fields = new Map<string, string>();
  const levels = new Map<string, string>();
  for (const [name, value] of pairs(hash)) {
    const key = name.toString('latin1');
    if (key === 's') unpack(STATE, value, fields);
    else if (key === 'r') unpack(RESOLUTION, value, fields);
    else if (/^[ab]/.test(key)) levels.set(key, `${readUInt(value, 0, 7)}/${value.readUInt32BE(7)}`);
  }
  const [id, [, packed]] = last[0] ?? [Buffer.from('0-0'), [Buffer.alloc(0), Buffer.alloc(0)]];
  const [ms = 0, sequence = 0] = id.toString().split('-').map(Number);
  return {
    fields,
    levels,
    bids: scored(bids, 6),
    asks: scored(asks, 6),
    tokens: accounts(tokens, 4),
    matches,
    lastMatch: decodeFills(ms, sequence, packed),
    paid: accounts(paid, 3),
  };
}

/** STATE of lua/lib/book.lua. */
const STATE = { st: 1, md: 1, q: 6, liq: 7, lt: 6, vol: 7, oi: 7, lp: 2 } as const;

/** FORMAT of lua/lib/resolution.lua: outcome, when, when all were paid, sets, paid so far, accounts so far. */
const RESOLUTION = { ro: 1, rt: 6, rd: 6, rs: 7, rp: 7, ra: 4 } as const;

function unpack(layout: Readonly<Record<string, number>>, packed: Buffer, fields: Map<string, string>): void {
  let at = 0;
  for (const [name, bytes] of Object.entries(layout)) {
    fields.set(name, String(readUInt(packed, at, bytes)));
    at += bytes;
  }
}

function* pairs(flat: readonly Buffer[]): Generator<[Buffer, Buffer]> {
  for (let i = 0; i + 1 < flat.length; i += 2) yield [flat[i] as Buffer, flat[i + 1] as Buffer];
}

const scored = (flat: readonly Buffer[], skip: number): (readonly [string, number])[] =>
  [...pairs(flat)].map(([member, score]) => [hashHex(member.subarray(skip)), Number(score)] as const);

function accounts(flat: readonly Buffer[], count: number): Map<string, bigint[]> {
  const found = new Map<string, bigint[]>();
  for (const [address, packed] of pairs(flat)) {
    const name = address.length === 20 ? hashHex(address) : address.toString('latin1');
    found.set(
      name,
      Array.from({ length: count }, (_, i) => BigInt(readUInt(packed, 7 * i, 7))),
    );
  }
  return found;
}
