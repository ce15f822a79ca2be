-- A submission: place_order unpacks it; lib/plan, lib/matching and lib/charge read it.

local book = require('lib.book')
local integer = require('lib.integer')

local request = {}

-- The packed request, from src/store/verbs/place.ts: side, outcome, order type, self trade prevention, price, size, budget,
-- deadline, expiration, nonce, fee rate, most makers, grant, dry run, lot, market, maker, price in Yes. The last is text,
-- because formatting it here would take longer.
request.PACKED = '>BBBBI2I6I7I6I5I4I2I2I7BI6c8c20Bc0'
request.YES_AT = 82
-- The member `dry run` is 0 for an order to be booked, 1 for a dry run, and this for a dry run whose wallet has enough collateral
-- in all shards together, which the caller has counted.
request.COVERED = 2

-- A request `q` is a table with these fields:
-- `side`, `outcome`, `type`, `prevention`, `price` (the limit in pips of its own token), `size` (lots), `budget` (the most
-- micro-units that a MARKET BUY may spend), `expiration` (epoch seconds, 0 never), `bps` (fee rate), `makers_max` (the most
-- makers it may meet), `grant` (the amount a wallet gets when it is first seen), `lot` (the smallest part of a fill, in lots),
-- `market`, `maker`, `now_ms` and `is_budget`;
-- of the other side of the book, the key `opposite` and the worst score that the order may meet there, `limit`;
-- and `shard`, the prefix `{x}:` of all keys. Built by one expression, so the bundler writes it into its calls.
function request.of(side, outcome, order_type, prevention, price, size, budget, expiration, bps, makers_max, grant, lot, market,
    maker, now_ms, is_budget, opposite, limit, shard)
  return { side = side, outcome = outcome, type = order_type, prevention = prevention, price = price, size = size,
    budget = budget, expiration = expiration, bps = bps, makers_max = makers_max, grant = grant, lot = lot, market = market,
    maker = maker, now_ms = now_ms, is_budget = is_budget, opposite = opposite, limit = limit, shard = shard }
end

-- The first refusal that depends on neither money nor the book, in the order of docs/use/interface.md; false for none. It is one
-- expression, so the bundler writes it into its calls.
function request.objection(nonce, current, expiration, now_ms, status, mode, deadline_ms)
  return nonce ~= current and 'INVALID_NONCE_VALUE'
    or expiration > 0 and now_ms >= expiration * 1000 and 'ORDER_EXPIRED'
    or status ~= book.OPEN and 'MARKET_NOT_OPEN'
    or mode ~= book.NORMAL and (mode == book.CANCEL_ONLY and 'CANCEL_ONLY' or 'HALTED')
    or deadline_ms > 0 and now_ms >= deadline_ms and 'DEADLINE_EXCEEDED'
end

-- The detail that explains such a refusal; nil when it has none.
function request.detail_of(objection, current, status)
  return objection == 'INVALID_NONCE_VALUE' and integer.text(current) or objection == 'MARKET_NOT_OPEN' and status or nil
end

-- The reply for an order that was booked before. It comes before every refusal, because the order was accepted once.
function request.replayed(now_ms, record)
  return { 'REPLAYED', integer.text(now_ms), record }
end

return request
