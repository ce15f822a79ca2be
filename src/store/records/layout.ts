/**
 * Lua packs records with `struct`, and this module reads them. Each format that both sides use is written here once, and
 * test/store/layout.test.ts finds it in lua/. For speed, hand-written code in separate files reads the most frequent
 * records; the same test compares that code with the layout.
 */
type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9';
/** The values of a format, as Lua's struct.unpack returns them: numbers and byte strings. */
type Values<Format extends string> = Format extends `>${infer Rest}`
  ? Values<Rest>
  : Format extends `B${infer Rest}` | `I${Digit}${infer Rest}`
    ? [number, ...Values<Rest>]
    : Format extends `c${Digit}${Digit}${infer Rest}`
      ? [Buffer, ...Values<Rest>]
      : Format extends `c${Digit}${infer Rest}`
        ? [Buffer, ...Values<Rest>]
        : [];
type Fields<Names extends readonly string[], List extends readonly unknown[]> = List extends readonly [
  infer Value,
  ...infer Others,
]
  ? Names extends readonly [infer Name extends string, ...infer Rest extends readonly string[]]
    ? Readonly<Record<Name, Value>> & Fields<Rest, Others>
    : unknown
  : unknown;

type Getters<Record> = { readonly [Name in keyof Record]: (packed: Buffer, from?: number) => Record[Name] };

interface Layout<Format extends string, Names extends readonly string[]> {
  readonly format: Format;
  readonly bytes: number;
  /** The offset of each field. */
  readonly at: Readonly<Record<Names[number], number>>;
  /** Reads one field of a record that begins at `from`; decoders of hot records read only the fields that they need. */
  readonly get: Getters<Fields<Names, Values<Format>>>;
  /** Reads the fields of a record that begins at `from`. */
  read(packed: Buffer, from?: number): Fields<Names, Values<Format>>;
  pack(fields: Fields<Names, Values<Format>>): Buffer;
}

interface Field {
  readonly name: string;
  readonly at: number;
  readonly bytes: number;
  readonly isText: boolean;
}

/** Reads an unsigned big-endian integer of up to 7 bytes, exactly (all stored ones are below 2^53). */
export function readUInt(packed: Buffer, at: number, bytes: number): number {
  const end = at + bytes;
  if (end > packed.length)
    throw new RangeError(`a stored record of ${packed.length} bytes ends before ${end}`);
  // Byte by byte takes a third of the time of readUIntBE, which checks its arguments.
  let value = 0;
  for (let i = at; i < end; i++) value = value * 256 + (packed[i] as number);
  return value;
}

/** Writes such an integer, and returns the position after it. */
export function writeUInt(packed: Buffer, value: number, at: number, bytes: number): number {
  if (bytes <= 6) return packed.writeUIntBE(value, at, bytes);
  packed.writeUInt8(Math.floor(value / 2 ** 48), at);
  return packed.writeUIntBE(value % 2 ** 48, at + 1, 6);
}

function fieldsOf(format: string, names: readonly string[]): readonly Field[] {
  const parts = [...format.matchAll(/B|I([1-7])|c(\d+)/g)];
  if (`>${parts.map(([text]) => text).join('')}` !== format || parts.length !== names.length) {
    throw new Error(`the layout ${format} has ${parts.length} fields, and ${names.length} names`);
  }
  let at = 0;
  return parts.map(([, integer, text], i): Field => {
    const bytes = Number(integer ?? text ?? 1);
    at += bytes;
    return { name: names[i] ?? '', at: at - bytes, bytes, isText: text !== undefined };
  });
}

const readField = (packed: Buffer, { at, bytes, isText }: Field, from: number): number | Buffer =>
  isText ? packed.subarray(from + at, from + at + bytes) : readUInt(packed, from + at, bytes);

function layout<const Format extends string, const Names extends readonly string[]>(
  format: Format,
  names: Names,
): Layout<Format, Names> {
  const fields = fieldsOf(format, names);
  const bytes = fields.reduce((sum, field) => sum + field.bytes, 0);
  return {
    format,
    bytes,
    at: Object.fromEntries(fields.map(({ name, at }) => [name, at])) as Record<Names[number], number>,
    get: Object.fromEntries(
      fields.map((field) => [field.name, (packed: Buffer, from = 0) => readField(packed, field, from)]),
    ) as Getters<Fields<Names, Values<Format>>>,
    read(packed, from = 0) {
      const found: Record<string, number | Buffer> = {};
      for (const field of fields) found[field.name] = readField(packed, field, from);
      return found as Fields<Names, Values<Format>>;
    },
    pack(values) {
      const packed = Buffer.alloc(bytes);
      for (const { name, at, bytes: width } of fields) {
        const value = (values as Record<string, number | Buffer>)[name] ?? 0;
        if (typeof value === 'number') writeUInt(packed, value, at, width);
        else value.copy(packed, at, 0, width);
      }
      return packed;
    },
  };
}

/** The submitted part of an order, up to the length of its client order id (lua/lib/order.lua). */
export const ORDER_BODY = layout('>I6I6BI2I6I5c20c8', [
  ...([
    'createdAtMs',
    'sequence',
    'kind',
    'pricePips',
    'sizeLots',
    'expirationSec',
    'maker',
    'marketId',
  ] as const),
]);
/** The fields after the body, once the order has met another or is final. */
export const ORDER_CHANGES = layout('>BI6I7I6I6I6I4B', [
  ...(['reason', 'filledLots', 'quoteMicro', 'updatedAtMs'] as const),
  ...(['fillMs', 'fillSequence', 'fillCount', 'status'] as const),
]);
/** The records of a wallet that left Redis: its orders, when the first of them was created, and lines of its journal (lua/lib/archive.lua). */
export const FORGOTTEN = layout('>I6I6I6', ['orders', 'firstMs', 'lines']);
/** The terms of an order; the price in Yes follows as text (lua/lib/request.lua). */
export const REQUEST = layout('>BBBBI2I6I7I6I5I4I2I2I7BBI6c8c20B', [
  ...([
    'side',
    'outcome',
    'orderType',
    'selfTradePrevention',
    'pricePips',
    'sizeLots',
    'budgetMicro',
  ] as const),
  ...(['lastMomentMs', 'expirationSec', 'nonce', 'feeRateBps', 'makersMax', 'grantMicro'] as const),
  ...(['dryRun', 'isCovered', 'lotLots', 'marketId', 'maker', 'yesBytes'] as const),
]);

/** A match, and each maker in it (lua/lib/trades.lua). */
export const MATCH_HEAD = layout('>c32BBI2', ['takerHash', 'takerSide', 'takerOutcome', 'fills']);
export const MATCH_FILL = layout('>c32I2I6BI7I7I6I6', [
  ...(['makerHash', 'pricePips', 'sizeLots', 'matchType', 'takerFeeMicro', 'makerFeeMicro'] as const),
  ...(['chainMs', 'chainSequence'] as const),
]);

/** An entry of the outbox, up to its levels (lua/lib/outbox.lua). */
export const OUTBOX_HEAD = layout('>Bc8I6I6I6I2', [
  ...(['kind', 'marketId', 'sequence', 'timestampMs', 'tradeMs', 'levels'] as const),
]);
export const OUTBOX_MOVE = layout('>BI7I7I7', ['reason', 'collateralMicro', 'yesMicro', 'noMicro']);

/** Accounts (lua/lib/ledger.lua). */
export const CASH = layout('>I7I7I4I6', ['freeMicro', 'reservedMicro', 'nonce', 'faucetMs']);
export const TOKENS = layout('>I7I7I7I7', ['yesFree', 'yesReserved', 'noFree', 'noReserved']);

/** Collateral on its way from one shard to another, and what a wallet sent and got in one (src/extensions/shards/lua/lib/channel.lua). */
export const CHANNEL_ENTRY = layout('>c20I7I4I6I4', [
  ...(['wallet', 'amountMicro', 'nonce', 'beforeMs', 'beforeIndex'] as const),
]);
export const NET = layout('>I7I7', ['sentMicro', 'gotMicro']);
/** A wallet at its new home (src/extensions/shards/lua/open_home.lua). */
export const HOME = layout('>c20I4I6c8I4', ['wallet', 'nonce', 'faucetMs', 'shards', 'raised']);

/** Accounts of funds on a chain (src/extensions/chain/lua/lib/ledger.lua). */
export const CHAIN_CASH = layout('>I7I7I7I7I7I7I7I7I4BI6', [
  ...(['balanceMicro', 'allowanceMicro', 'reservedMicro', 'outMicro', 'pendingMicro'] as const),
  ...(['unsettledMicro', 'settledMicro', 'restingMicro', 'nonce', 'flags', 'block'] as const),
]);
export const CHAIN_TOKENS = layout('>I7I7I7I7I7I7I7I7I6', [
  ...(['yesHeld', 'yesReserved', 'yesOut', 'yesPending'] as const),
  ...(['noHeld', 'noReserved', 'noOut', 'noPending', 'block'] as const),
]);
/** The lower amount of an asset in a block that is not final (src/extensions/chain/lua/lib/caps.lua). */
export const CAP = layout('>I7I6', ['amountMicro', 'block']);
/** The strikes of a wallet (src/extensions/chain/lua/lib/trust.lua). */
export const STRIKES = layout('>BI6I6Bc15', ['count', 'untilMs', 'lastMs', 'reason', 'settlement']);
/** The lots of an order that are settled, and those of failed matches (src/extensions/chain/lua/lib/legs.lua). */
export const SETTLED_LOTS = layout('>I6I6', ['settledLots', 'failedLots']);
/** A block, and the numbers of a wallet in it (src/extensions/chain/lua/lib/cursor.lua, readings.lua). */
export const BLOCK = layout('>I6I6c32', ['number', 'timeMs', 'hash']);
export const READING = layout('>c20I7I7BI4B', [
  ...(['wallet', 'balanceMicro', 'allowanceMicro', 'flags', 'nonce', 'markets'] as const),
]);
export const TOKENS_READING = layout('>c8I7I7', ['marketId', 'yesMicro', 'noMicro']);
/** A settlement that is final (src/extensions/chain/lua/observe_block.lua), and the bytes behind the transaction of its record (finality.lua). */
export const SETTLEMENT_EVENT = layout('>c15BBI6c32c20', [
  ...(['name', 'status', 'reason', 'block', 'transaction', 'wallet'] as const),
]);
/** What a wallet converted on the chain itself (src/extensions/chain/lua/observe_block.lua). */
export const CONVERSION = layout('>c8c20BI7I7I7', [
  ...(['marketId', 'wallet', 'reason', 'collateralMicro', 'yesMicro', 'noMicro'] as const),
]);
export const SETTLEMENT_END = layout('>I6Bc20', ['block', 'reason', 'wallet']);
/** The block and the transaction of a settlement that is not final yet (src/store/settlement/mined.ts). */
export const MINED = layout('>I6c32', ['block', 'transaction']);

/** A market's moving part and one of its levels (lua/lib/book.lua). */
export const MARKET_STATE = layout('>BBI6I7I6I7I7I2', [
  ...(['status', 'mode', 'sequence', 'liquidityMicro'] as const),
  ...(['lastTradeMs', 'volumeMicro', 'openInterestMicro', 'lastPips'] as const),
]);
export const LEVEL = layout('>I7I4', ['sizeLots', 'orders']);

/** The result of a market, and the payout of one account (lua/lib/resolution.lua). */
export const RESOLUTION = layout('>BI6I6I7I7I4', [
  ...(['outcome', 'resolvedAtMs', 'paidAtMs', 'setsMicro', 'paidMicro', 'accounts'] as const),
]);
export const PAYOUT_DELAY = layout('>I6B', ['payoutAtMs', 'statusBefore']);
export const PAYOUT = layout('>I7I7I7', ['yesMicro', 'noMicro', 'cashMicro']);

/** A comment before its text (src/extensions/people/lua/lib/comments.lua). */
export const COMMENT = layout('>I6I6c20B', ['createdAtMs', 'parent', 'author', 'deleted']);
/** A comment's place among those of its author. */
export const COMMENT_PLACE = layout('>I6c8I6', ['createdAtMs', 'marketId', 'number']);

/** A settlement before the hash of its transaction, and its place among those that are not final (lua/lib/settlements.lua). */
export const SETTLEMENT = layout('>BI2I6I6I6I4B', [
  ...(['status', 'attempts', 'updatedAtMs', 'tradeMs', 'listMs', 'listIndex', 'transactionBytes'] as const),
]);
export const LIST_PLACE = layout('>I6I4', ['listMs', 'listIndex']);

/** A lane of the operator before the token of its lease, and an intent before its matches (src/extensions/chain/lua/lib/intents.lua). */
export const LANE = layout('>I6BI6I6', ['nextNonce', 'state', 'changedAtMs', 'leasedUntilMs']);
export const INTENT = layout('>I6I6I2B', ['createdAtMs', 'updatedAtMs', 'matches', 'attempts']);

/** The place of a match in the stream of its market (lua/lib/archived_matches.lua). */
export const STREAM_PLACE = layout('>I6I6', ['tradeMs', 'sequence']);
/** Matches of a market that have left Redis (lua/lib/archived_matches.lua). */
export const LEFT = layout('>I6I6I6I7I7I7I7I2', [
  'tradeMs',
  'sequence',
  'matches',
  'volumeMicro',
  'feeMicro',
  'yesFeeMicro',
  'noFeeMicro',
  'lastPips',
]);

/** Traces of a market: their buckets and how these are chosen, the latest expiration that needed none, their number (lua/lib/traces.lua). */
export const TRACES = layout('>I4I4I3I5I6', ['buckets', 'span', 'factor', 'expiredSec', 'traces']);
