-- A submission, as place_order takes it apart and lib/plan, lib/matching and lib/charge read it.

local book = require('lib.book')
local integer = require('lib.integer')

local request = {}

-- As src/store/verbs/place.ts packs it: side, outcome, order type, self trade prevention, price, size, budget, deadline,
-- expiration, nonce, fee rate, most makers, grant, dry run, lot, market, maker, price in Yes. The last is text: to format it
-- here would take longer.
request.PACKED = '>BBBBI2I6I7I6I5I4I2I2I7BI6c8c20Bc0'

-- A request `q` is a table of these by name: `side`, `outcome`, `type`, `prevention`, `price` (the limit in pips of its own token),
-- `size` (lots), `budget` (micro-units a MARKET BUY may spend), `expiration` (epoch seconds, 0 never), `bps` (fee rate),
-- `makers_max` (the most makers it may meet), `grant` (what a wallet gets when it is first seen), `lot` (the smallest part of a
-- fill, in lots), `market`, `maker`; with `now_ms`, `is_budget`, and of the other side the key `opposite` and the worst score
-- it may meet there, `limit`.

-- The refusals that need neither money nor a book, in the order of docs/interface.md; false for none. Written into its calls.
function request.objection(nonce, current, expiration, now_ms, status, mode, deadline_ms)
  return nonce ~= current and 'INVALID_NONCE_VALUE'
    or expiration > 0 and now_ms >= expiration * 1000 and 'ORDER_EXPIRED'
    or status ~= book.OPEN and 'MARKET_NOT_OPEN'
    or mode ~= book.NORMAL and (mode == book.CANCEL_ONLY and 'CANCEL_ONLY' or 'HALTED')
    or deadline_ms > 0 and now_ms >= deadline_ms and 'DEADLINE_EXCEEDED'
end

-- What explains one of them; nil for nothing.
function request.detail_of(objection, current, status)
  return objection == 'INVALID_NONCE_VALUE' and integer.text(current) or objection == 'MARKET_NOT_OPEN' and status or nil
end

-- The reply for an order that was booked before, whatever would be said of it today: it was accepted once.
function request.replayed(now_ms, record)
  return { 'REPLAYED', integer.text(now_ms), record }
end

return request
