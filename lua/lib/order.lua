-- The order record: a body that never changes, then what does. Big-endian, so that src/store/records/order.ts reads it with
-- the plain Buffer methods.
--
-- body: createdMs I6, sequence I6, kind B, pricePips I2, sizeLots I6, expirationSec I5, maker c20, market c8, client
-- order id and signed order, a byte 0;
-- then, unless the order is OPEN: reason B, filledLots I6, quoteMicro I7, updatedMs I6, fillMs I6, fillSequence I6, fills I4,
-- status B. (More fills than I4 can count would take the matches of one market 400 GB.)
-- So the last byte is the status, also of an order that has met nobody, which is most of what a book holds: OPEN is 0. What
-- changes stands last, so that a record is written without cutting its body out: Redis' Lua hashes every byte of every string.

local order = {}

order.BODY = '>I6I6BI2I6I5c20c8'
-- The same without the market, for those who know it.
order.BODY_IN_MARKET = '>I6I6BI2I6I5c20'
-- Where the kind, the maker's address and the market stand.
order.KIND_AT, order.MAKER_FROM, order.MAKER_TO, order.MARKET_FROM, order.MARKET_TO = 13, 27, 46, 47, 54
-- What a new record begins with, before the part of the body that its submitter packs; what changes, and how long it is.
order.HEAD, order.CHANGES, order.CHANGES_BYTES = '>I6I6', '>BI6I7I6I6I6I4B', 37

-- src/exchange/status.ts holds the names.
order.OPEN, order.PARTIALLY_FILLED, order.FILLED_STATUS, order.CANCELLED, order.EXPIRED = 0, 1, 2, 3, 4
order.INVALIDATED = 5
order.REASON_NONE, order.REASON_IOC, order.REASON_MARKET = 0, 3, 4
order.REASON_SELF_TRADE, order.REASON_MATCH_LIMIT, order.REASON_MARKET_CLOSED = 5, 6, 7
order.REASON_EXPIRED, order.REASON_NONCE, order.REASON_REPLACED = 8, 9, 12
order.GTC, order.IOC, order.FOK, order.POST_ONLY, order.MARKET_TYPE = 0, 1, 2, 3, 4
order.BUY, order.SELL = 0, 1

-- The record as a table: what changes, then the body; `body` is the packed body, `created` and `updated` are in milliseconds.
function order.unpack(packed, hash)
  local created, sequence, kind, price, size, expiration, maker, market = struct.unpack(order.BODY, packed)
  local reason, filled, quote, updated, fill_ms, fill_sequence, fills, status = 0, 0, 0, created, 0, 0, 0, order.OPEN
  local body = packed
  if packed:byte(-1) ~= order.OPEN then
    reason, filled, quote, updated, fill_ms, fill_sequence, fills, status = order.changes(packed)
    body = order.body(packed)
  end
  return { status = status, reason = reason, filled = filled, quote = quote, updated = updated, fill_ms = fill_ms,
    fill_sequence = fill_sequence, fills = fills, created = created, sequence = sequence, kind = kind, price = price,
    size = size, expiration = expiration, maker = maker, market = market, body = body, hash = hash }
end

-- Reason, filled, quote, updated, time and number of the latest fill, how many there are, status: of an order that is not OPEN.
function order.changes(packed)
  return struct.unpack(order.CHANGES, packed, #packed - order.CHANGES_BYTES + 1)
end

-- The body of the same.
function order.body(packed)
  return packed:sub(1, -1 - order.CHANGES_BYTES)
end

function order.pack(record)
  if record.status == order.OPEN then
    return record.body
  end
  return record.body .. struct.pack(order.CHANGES, record.reason, record.filled,
    record.quote, record.updated, record.fill_ms, record.fill_sequence, record.fills,
    record.status)
end

-- The submitter's part of a body (kind B, pricePips I2, sizeLots I6, ..., a byte 0) with another size.
function order.with_size(body, size)
  return body:sub(1, 3) .. struct.pack('>I6', size) .. body:sub(10)
end

-- kind = order type + 8 x side + 16 x outcome (src/store/records/order.ts packs it)
function order.side(kind)
  return kind % 16 >= 8 and 1 or 0
end

function order.outcome(kind)
  return kind >= 16 and 1 or 0
end

-- Lots still open; only meaningful while the status is OPEN or PARTIALLY_FILLED.
function order.remaining(record)
  return record.size - record.filled
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
