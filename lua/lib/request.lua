-- Places of a submission's members, as place_order takes them apart and lib/plan, lib/matching and lib/charge read them.

local book = require('lib.book')
local integer = require('lib.integer')

local request = {}

-- As src/store/verbs/place.ts packs it: side, outcome, order type, self trade prevention, price, size, budget, deadline,
-- expiration, nonce, fee rate, most makers, grant, dry run, lot, market, maker, price in Yes. The last is text: to format it
-- here would take longer.
request.PACKED = '>BBBBI2I6I7I6I5I4I2I2I7BI6c8c20Bc0'

request.SIDE, request.OUTCOME, request.TYPE, request.PREVENTION = 1, 2, 3, 4
-- The limit in pips of its own token, lots, micro-units a MARKET BUY may spend, epoch seconds (0 never), fee rate.
request.PRICE, request.SIZE, request.BUDGET, request.EXPIRATION, request.BPS = 5, 6, 7, 8, 9
-- The most makers it may meet, what a wallet gets when it is first seen, the smallest part of a fill in lots.
request.MAKERS_MAX, request.GRANT, request.LOT = 10, 11, 12
request.MARKET, request.MAKER, request.NOW, request.IS_BUDGET = 13, 14, 15, 16
-- The key of the other side, and the worst score it may meet there.
request.OPPOSITE, request.LIMIT = 17, 18

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

return request
