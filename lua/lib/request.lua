-- A submission: the keys and arguments of place_order, replace_order and continue_order. lib/booking, lib/plan, lib/matching and
-- lib/charge read it.

local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local outbox = require('lib.outbox')

local request = {}

-- The packed request, from src/store/verbs/place.ts: side, outcome, order type, self trade prevention, price, size, budget,
-- deadline, expiration, nonce, fee rate, most makers, grant, whether it is a dry run, whether it is covered, lot, market, maker,
-- price in Yes. The last is text, because formatting it here would take longer.
request.PACKED = '>BBBBI2I6I7I6I5I4I2I2I7BBI6c8c20Bc0'
request.YES_AT = 83

-- Returns the request as a table with these fields:
-- `side`, `outcome`, `type`, `prevention`, `price` (the limit in pips of its own token), `size` (lots), `budget` (the most
-- micro-units that a MARKET BUY may spend), `deadline_ms` (0 for none), `expiration` (epoch seconds, 0 never), `nonce`, `bps` (fee
-- rate), `makers_max` (the most makers it may meet), `grant` (the amount a wallet gets when it is first seen), `is_dry_run`,
-- `is_covered` (the wallet has enough collateral in all shards together, which the caller of a dry run has counted), `lot` (the
-- smallest part of a fill, in lots), `market`, `maker`, `now_ms`, `is_budget`, and `is_bid`: whether it is on the side of bids;
-- `yes`, the limit as a price of Yes (text); of the other side of the book, the key `opposite` and the worst score that the order
-- may meet there, `limit`; and `shard`, the prefix `{x}:` of all keys.
function request.read()
  local side, outcome, order_type, prevention, price, size, budget, deadline_ms, expiration, nonce, bps, makers_max, grant,
    dry_run, covered, lot, market, maker, yes = struct.unpack(request.PACKED, ARGV[1])
  local is_bid, opposite, limit = side == outcome, KEYS[2], '-' .. yes
  if is_bid then
    opposite, limit = KEYS[3], yes
  end
  return { side = side, outcome = outcome, type = order_type, prevention = prevention, price = price, size = size,
    budget = budget, deadline_ms = deadline_ms, expiration = expiration, nonce = nonce, bps = bps, makers_max = makers_max,
    grant = grant, is_dry_run = dry_run == 1, is_covered = covered == 1, lot = lot, market = market,
    maker = maker, yes = yes, now_ms = outbox.now_ms(), is_budget = order_type == order.MARKET_TYPE and side == order.BUY,
    is_bid = is_bid, opposite = opposite, limit = limit, shard = outbox.shard_of(KEYS[7]) }
end

-- The amount that must be free before the order may match (micro-units): limit x size, the budget, or the tokens.
function request.required(q)
  return q.is_budget and q.budget or q.size * (q.side == order.BUY and q.price or ledger.MICRO_PER_LOT)
end

-- The asset that the order gives.
function request.asset(q)
  return q.side == order.BUY and ledger.COLLATERAL or ledger.YES + q.outcome
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

-- The reply that is not a booked order: a code and its details.
function request.refuse(q, code, ...)
  return { code, integer.text(q.now_ms), ... }
end

return request
