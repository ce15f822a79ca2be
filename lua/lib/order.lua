-- The order record: 88 packed bytes, then a tail that never changes (client order id, signed order).
-- Big-endian, so that src/store/records.ts reads it with the plain Buffer methods.

local order = {}

-- status B, reason B, kind B, spare B, pricePips I2, sizeLots I6, filledLots I6, quoteMicro I7, createdMs I6,
-- updatedMs I6, sequence I6, expirationSec I5, fillMs I6, fillSequence I6, market c8, maker c20
order.HEAD = '>BBBBI2I6I6I7I6I6I6I5I6I6c8c20'
-- Where the tail begins in a packed record.
order.TAIL_AT = 89

-- Places of the members in an unpacked record.
order.STATUS, order.REASON, order.KIND, order.SPARE, order.PRICE = 1, 2, 3, 4, 5
order.SIZE, order.FILLED, order.QUOTE, order.CREATED, order.UPDATED = 6, 7, 8, 9, 10
order.SEQUENCE, order.EXPIRATION, order.FILL_MS, order.FILL_SEQUENCE = 11, 12, 13, 14
order.MARKET, order.MAKER, order.TAIL, order.HASH = 15, 16, 17, 18

-- src/exchange/status.ts holds the names.
order.OPEN, order.PARTIALLY_FILLED, order.FILLED_STATUS, order.CANCELLED, order.EXPIRED = 0, 1, 2, 3, 4
order.REASON_NONE, order.REASON_IOC, order.REASON_MARKET = 0, 3, 4
order.REASON_SELF_TRADE, order.REASON_MATCH_LIMIT, order.REASON_MARKET_CLOSED = 5, 6, 7
order.REASON_EXPIRED = 8
order.GTC, order.IOC, order.FOK, order.POST_ONLY, order.MARKET_TYPE = 0, 1, 2, 3, 4
order.BUY, order.SELL = 0, 1

function order.unpack(packed, hash)
  local status, reason, kind, spare, price, size, filled, quote, created, updated, sequence, expiration, fill_ms,
    fill_sequence, market, maker = struct.unpack(order.HEAD, packed)
  return { status, reason, kind, spare, price, size, filled, quote, created, updated, sequence, expiration, fill_ms,
    fill_sequence, market, maker, packed:sub(order.TAIL_AT), hash }
end

function order.pack(record)
  return struct.pack(order.HEAD, unpack(record, 1, 16)) .. record[17]
end

-- kind = order type + 8 x side + 16 x outcome
function order.kind(order_type, side, outcome)
  return order_type + 8 * side + 16 * outcome
end

function order.side(record)
  return math.floor(record[3] / 8) % 2
end

function order.outcome(record)
  return math.floor(record[3] / 16) % 2
end

-- Lots still open; only meaningful while the status is OPEN or PARTIALLY_FILLED.
function order.remaining(record)
  return record[6] - record[7]
end

-- `now >= expiration` is expired; 0 never expires.
function order.is_stale(record, now_ms)
  return record[12] > 0 and now_ms >= record[12] * 1000
end

-- Place in the wallet's index: open orders above zero, final ones below, both by creation.
-- The time is in milliseconds; the market's sequence parts what one millisecond holds.
function order.rank(created_ms, sequence)
  return created_ms * 1000 + sequence % 1000
end

return order
