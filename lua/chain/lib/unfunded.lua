-- Resting orders that their wallet can no longer pay: they are cancelled, the newest first, with reason FUNDS.

local batch = require('lib.batch')
local book = require('lib.book')
local caps = require('lib.caps')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')

local unfunded = {}

-- The most orders that one call of a script cancels; the most that it looks at for one wallet, and at once.
unfunded.CANCEL_MAX = 200
local LOOK_MAX, PAGE = 5000, 500

-- Takes the order out of its open book, in memory, unless its market is HALTED. Returns the reserve that comes back.
local function take(shard, maker, batches, hash, packed, now_ms)
  local created, number, kind, price, size, expiration = struct.unpack(order.BODY_IN_MARKET, packed)
  local market = packed:sub(order.MARKET_FROM, order.MARKET_TO)
  local t = batches[market]
  if not t then
    t = batch.open(book.open(shard, market, 's'), maker, order.REASON_FUNDS, now_ms)
    batches[market] = t
  end
  if t.book.mode == book.HALTED then
    return nil
  end
  local cash, yes, no = t.cash, t.yes, t.no
  batch.add(t, hash, packed, created, number, kind, price, size, expiration)
  return t.cash - cash + t.yes - yes + t.no - no
end

-- Whether an order is of this side, market and outcome; nil is any.
local function is_wanted(packed, side, market, outcome)
  local kind = packed:byte(order.KIND_AT)
  return (not side or order.side(kind) == side) and (not outcome or order.outcome(kind) == outcome)
    and (not market or packed:sub(order.MARKET_FROM, order.MARKET_TO) == market)
end

-- Cancels resting orders of the wallet until `missing` micro-units of its reserves have come back, but no more than `most`
-- orders. Returns their number, and whether others must follow.
function unfunded.cancel(shard, maker, side, market, outcome, missing, most, now_ms)
  local batches, cancelled, looked, ended = {}, 0, 0, false
  while missing > 0 and cancelled < most and looked < LOOK_MAX and not ended do
    local hashes = redis.call('ZREVRANGEBYSCORE', shard .. 'u:' .. maker, '+inf', '(0', 'LIMIT', integer.text(looked),
      integer.text(PAGE))
    local records = hashes[1] and redis.call('HMGET', shard .. 'o', unpack(hashes)) or {}
    looked, ended = looked + #hashes, #hashes < PAGE
    for i = 1, #hashes do
      if missing > 0 and cancelled < most and is_wanted(records[i], side, market, outcome) then
        local back = take(shard, maker, batches, hashes[i], records[i], now_ms)
        cancelled, missing = cancelled + (back and 1 or 0), missing - (back or 0)
      end
    end
  end
  for _, t in pairs(batches) do
    if t.hashes[1] then
      batch.write(t, shard)
    end
  end
  return cancelled, missing > 0 and not (ended and cancelled < most)
end

-- Cancels orders until no more of an asset is promised than the wallet at `slot` has. Returns the same.
function unfunded.cover(shard, a, slot, market, asset, any_caps, most, now_ms)
  local free = caps.free(shard, a, slot, market, asset, any_caps)
  if free >= 0 then
    return 0, false
  elseif asset == ledger.COLLATERAL then
    return unfunded.cancel(shard, a.addresses[slot], order.BUY, nil, nil, -free, most, now_ms)
  end
  return unfunded.cancel(shard, a.addresses[slot], order.SELL, market, asset - ledger.YES, -free, most, now_ms)
end

return unfunded
