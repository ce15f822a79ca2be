-- The steps of a submission that meets more makers than one script may. Each step is a command and a match of its own, and the order
-- has the number of its latest. Between two of them it is CONTINUING: it stands in no book and not in the index of its wallet, and
-- reserves nothing, so all other scripts but a cancel by its hash leave it alone. {x}:exp has the second in which expire_orders ends it.

local agenda = require('lib.agenda')
local book = require('lib.book')
local ledger = require('lib.ledger')
local matching = require('lib.matching')
local order = require('lib.order')
local orders = require('lib.orders')
local outbox = require('lib.outbox')
local request = require('lib.request')

local steps = {}

-- Whether the next step may not be: the market, its mode, the order's time, deadline or nonce have changed, or its funds are gone.
local function is_over(q, b, a, record, nonce, deadline_ms, free)
  local required = q.size * (q.side == order.BUY and q.price or ledger.MICRO_PER_LOT)
  return agenda.status(q.shard, q.market, b.status, q.now_ms) ~= book.OPEN or b.mode ~= book.NORMAL
    or order.is_stale(record.expiration, q.now_ms) or deadline_ms > 0 and q.now_ms >= deadline_ms
    or a.cash_of[1] and nonce < select(3, ledger.open_cash(a.cash_of[1]))
    or free < (q.is_budget and q.budget or required)
end

-- Continues a submission, on the keys and arguments of place_order. `free_of` returns what the wallet of open accounts may spend of an
-- asset in a market, or nil while nothing may be booked.
function steps.continue(free_of)
  local side, outcome, order_type, prevention, price, size, budget, deadline_ms, expiration, nonce, bps, makers_max, grant, _, lot,
    market, maker, yes = struct.unpack(request.PACKED, ARGV[1])
  local now_ms, shard, stored = outbox.now_ms(), outbox.shard_of(KEYS[7]), redis.call('HGET', KEYS[4], ARGV[2])
  local b = book.open(shard, market, 's')
  if not stored or stored:byte(-1) ~= order.CONTINUING or b.mode == book.HALTED then
    return request.replayed(now_ms, stored or '')
  end
  local record, is_bid, is_budget = order.unpack(stored, ARGV[2]), side == outcome, order_type == order.MARKET_TYPE and side == order.BUY
  local opposite, limit = is_bid and KEYS[3] or KEYS[2], is_bid and yes or '-' .. yes
  local q = request.of(side, outcome, order_type, prevention, price, size - record.filled, budget - record.quote, expiration, bps,
    makers_max, grant, lot, market, maker, now_ms, is_budget, opposite, limit, shard)
  local a = ledger.read(shard, market, { maker }, 1, grant)
  local free = free_of(q, a)
  if not free or is_over(q, b, a, record, nonce, deadline_ms, free) then
    return request.replayed(now_ms, orders.stop(shard, record, order.REASON_MATCH_LIMIT, now_ms))
  end
  q.before, record.body = record, record.body:sub(order.HEAD_BYTES + 1)
  local best, hash, packed, total = redis.call('ZRANGEBYSCORE', opposite, '-inf', limit, 'WITHSCORES', 'LIMIT', '0', '1'), nil, nil, nil
  if best[1] then
    hash = best[1]:sub(book.HASH_AT)
    packed = redis.call('HGET', KEYS[4], hash)
    total = redis.call('HGET', KEYS[1], is_bid and 'a' .. best[2] or 'b' .. best[2]:sub(2))
  end
  return (matching.sweep(q, b, hash, packed, total, 0, nil))
end

return steps
