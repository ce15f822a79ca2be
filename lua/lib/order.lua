-- The order record: what changes, then a body that never does. Big-endian, so that src/store/records.ts reads it with
-- the plain Buffer methods.
--
-- status B, and unless it is OPEN: reason B, filledLots I6, quoteMicro I7, updatedMs I6, fillMs I6, fillSequence I6;
-- body: createdMs I6, sequence I6, kind B, pricePips I2, sizeLots I6, expirationSec I5, maker c20, market c8, then
-- the tail (client order id, signed order). An order that has met nobody yet is most of what a book holds: it is the
-- status and the body, 31 bytes less.

local order = {}

-- What changes. An order that rests untouched has only the first byte of it.
order.CHANGED = '>BBI6I7I6I6I6'
order.BODY = '>I6I6BI2I6I5c20c8'
-- The same without the market, for those who know it.
order.BODY_IN_MARKET = '>I6I6BI2I6I5c20'
-- Where the body begins: in the record of an untouched order, and of any other.
order.OPEN_BODY_AT, order.CHANGED_BODY_AT = 2, 34
-- A new record up to the part of the body that its submitter packs, untouched or changed.
order.NEW_OPEN = '>BI6I6'
order.NEW_CHANGED = '>BBI6I7I6I6I6I6I6'

-- Places of the members in an unpacked record; BODY_BYTES is the packed body.
order.STATUS, order.REASON, order.FILLED, order.QUOTE, order.UPDATED = 1, 2, 3, 4, 5
order.FILL_MS, order.FILL_SEQUENCE, order.CREATED, order.SEQUENCE, order.KIND = 6, 7, 8, 9, 10
order.PRICE, order.SIZE, order.EXPIRATION, order.MAKER, order.MARKET = 11, 12, 13, 14, 15
order.BODY_BYTES, order.HASH = 16, 17

-- src/exchange/status.ts holds the names.
order.OPEN, order.PARTIALLY_FILLED, order.FILLED_STATUS, order.CANCELLED, order.EXPIRED = 0, 1, 2, 3, 4
order.INVALIDATED = 5
order.REASON_NONE, order.REASON_IOC, order.REASON_MARKET = 0, 3, 4
order.REASON_SELF_TRADE, order.REASON_MATCH_LIMIT, order.REASON_MARKET_CLOSED = 5, 6, 7
order.REASON_EXPIRED, order.REASON_NONCE = 8, 9
order.GTC, order.IOC, order.FOK, order.POST_ONLY, order.MARKET_TYPE = 0, 1, 2, 3, 4
order.BUY, order.SELL = 0, 1

function order.unpack(packed, hash)
  local status, reason, filled, quote, updated, fill_ms, fill_sequence, at = 0, 0, 0, 0, nil, 0, 0, 2
  if packed:byte() ~= order.OPEN then
    status, reason, filled, quote, updated, fill_ms, fill_sequence, at = struct.unpack(order.CHANGED, packed)
  end
  local created, sequence, kind, price, size, expiration, maker, market = struct.unpack(order.BODY, packed, at)
  return { status, reason, filled, quote, updated or created, fill_ms, fill_sequence, created, sequence, kind, price,
    size, expiration, maker, market, packed:sub(at), hash }
end

function order.pack(record)
  if record[1] == order.OPEN then
    return struct.pack('B', order.OPEN) .. record[16]
  end
  return struct.pack(order.CHANGED, unpack(record, 1, 7)) .. record[16]
end

-- The submitter's part of a body (kind B, pricePips I2, sizeLots I6, ...) with another size.
function order.with_size(body, size)
  return body:sub(1, 3) .. struct.pack('>I6', size) .. body:sub(10)
end

function order.side(kind)
  return math.floor(kind / 8) % 2
end

-- kind = order type + 8 x side + 16 x outcome (src/store/records.ts packs it)
function order.outcome(kind)
  return math.floor(kind / 16)
end

-- Lots still open; only meaningful while the status is OPEN or PARTIALLY_FILLED.
function order.remaining(record)
  return record[12] - record[3]
end

-- `now >= expiration` is expired; 0 never expires.
function order.is_stale(expiration, now_ms)
  return expiration > 0 and now_ms >= expiration * 1000
end

-- Place in the wallet's index: open orders above zero, final ones below, both by creation.
-- The time is in milliseconds; the market's sequence parts what one millisecond holds.
function order.rank(created_ms, sequence)
  return created_ms * 1000 + sequence % 1000
end

return order
