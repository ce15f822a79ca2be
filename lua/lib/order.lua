-- The order record: first a body that never changes, then the fields that change. Numbers are big-endian, so
-- src/store/records/order.ts reads them with the plain Buffer methods.
--
-- body: createdMs I6, sequence I6, kind B, pricePips I2, sizeLots I6, expirationSec I5, maker c20, market c8, client
-- order id and signed order, a byte 0;
-- then, unless the order is OPEN: reason B, filledLots I6, quoteMicro I7, updatedMs I6, fillMs I6, fillSequence I6, fills I4,
-- status B. (More fills than I4 can count would need 400 GB of matches in one market.)
-- The last byte is always the status: the body of an OPEN order ends with 0, the code of OPEN. Most orders of a book are OPEN,
-- so most records are a body alone. The changing fields come last, so a record is written without cutting out its body:
-- Redis' Lua hashes every byte of every string.

local order = {}

order.BODY = '>I6I6BI2I6I5c20c8'
-- The head without the market, for callers that know the market.
order.BODY_IN_MARKET = '>I6I6BI2I6I5c20'
-- The positions of the kind, the maker's address and the market.
order.KIND_AT, order.MAKER_FROM, order.MAKER_TO, order.MARKET_FROM, order.MARKET_TO = 13, 27, 46, 47, 54
-- HEAD is packed before the part of the body that the submitter packs, HEAD_BYTES its length. CHANGES are the fields that
-- change, CHANGES_BYTES their length.
order.HEAD, order.CHANGES, order.CHANGES_BYTES = '>I6I6', '>BI6I7I6I6I6I4B', 37
order.HEAD_BYTES = 12

-- src/exchange/status.ts holds the names.
order.OPEN, order.PARTIALLY_FILLED, order.FILLED_STATUS, order.CANCELLED, order.EXPIRED = 0, 1, 2, 3, 4
order.INVALIDATED = 5
-- A submission between two of its steps (lib/booking). It is shown as PARTIALLY_FILLED, but rests nowhere.
order.CONTINUING = 6
order.REASON_NONE, order.REASON_USER, order.REASON_IOC, order.REASON_MARKET = 0, 1, 3, 4
order.REASON_SELF_TRADE, order.REASON_MATCH_LIMIT, order.REASON_MARKET_CLOSED = 5, 6, 7
order.REASON_EXPIRED, order.REASON_NONCE, order.REASON_FUNDS, order.REASON_REPLACED = 8, 9, 10, 12
order.REASON_SETTLEMENT_FAILED = 13
order.GTC, order.IOC, order.FOK, order.POST_ONLY, order.MARKET_TYPE = 0, 1, 2, 3, 4
order.BUY, order.SELL = 0, 1
local ID_AT, SIGNATURE_BYTES, NUMBERS_BEFORE_NONCE = 55, 67, 4

-- Whether what an order of this type does not fill stays in the book.
function order.rests(order_type)
  return order_type == order.GTC or order_type == order.POST_ONLY
end

-- The record as a table: the fields that change, then the body. `body` is the packed body; `created` and `updated` are in ms.
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

-- The changing fields of an order that is not OPEN: reason, filled, quote, updated, time and number of the latest fill, number
-- of fills, status.
function order.changes(packed)
  return struct.unpack(order.CHANGES, packed, #packed - order.CHANGES_BYTES + 1)
end

-- The body of an order that is not OPEN.
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

-- The submitter's part of a body (kind B, pricePips I2, sizeLots I6, ..., a byte 0), with another size.
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

-- The lots still open. The result means something only while the status is OPEN or PARTIALLY_FILLED.
function order.remaining(record)
  return record.size - record.filled
end

-- The nonce that the order was signed with. A record's body is followed by the length of the client order id; the signed order
-- begins with its signature, side and signature type, and has four numbers before the nonce, each behind its length
-- (src/store/records/signed-order.ts).
function order.nonce(packed)
  local at = ID_AT + 1 + packed:byte(ID_AT) + SIGNATURE_BYTES
  for _ = 1, NUMBERS_BEFORE_NONCE do
    at = at + 1 + packed:byte(at)
  end
  local value = 0
  for i = at + 1, at + packed:byte(at) do
    value = value * 256 + packed:byte(i)
  end
  return value
end

-- An order is stale from its expiration on; an expiration of 0 means that it never expires.
function order.is_stale(expiration, now_ms)
  return expiration > 0 and now_ms >= expiration * 1000
end

-- The order's rank in the wallet's index: the score of an open order; a final order has minus this score. The time is in
-- milliseconds; the market's sequence separates the orders of one millisecond.
function order.rank(created_ms, sequence)
  return created_ms * 1000 + sequence % 1000
end

return order
