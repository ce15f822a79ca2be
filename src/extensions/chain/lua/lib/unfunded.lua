-- Resting orders that their wallet can no longer pay: they are cancelled, the newest first, with reason FUNDS.
--
-- {x}:up   set: wallet + WANTED, orders of a wallet at fault that no call has cancelled yet (src/extensions/chain/lua/cancel_unpaid.lua)

local batch = require('lib.batch')
local book = require('lib.book')
local caps = require('lib.caps')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')

local unfunded = {}

-- The most open orders of a wallet. One look at all of them fits into a call, so none is hidden behind the others.
unfunded.OPEN_MAX = 2000
-- The most orders that one call of a script cancels; the most that it looks at, and at once.
local CANCEL_MAX, LOOK_MAX, PAGE = 200, 10000, 500
-- Side, market and outcome of orders.
local WANTED, ANY, ANY_MARKET = '>Bc8B', 255, '\0\0\0\0\0\0\0\0'
unfunded.WALLET_BYTES = 20

-- The bounds of one call, as far as they are not used up. `more` is set when orders remain for another call.
function unfunded.left()
  return { cancels = CANCEL_MAX, looks = LOOK_MAX, cancelled = 0, more = false }
end

-- Takes the order out of its open book, in memory, unless its market is HALTED. Returns the reserve that comes back.
local function take(shard, maker, batches, hash, packed, now_ms)
  local created, number, kind, price, size, expiration = struct.unpack(order.BODY_IN_MARKET, packed)
  local market = packed:sub(order.MARKET_FROM, order.MARKET_TO)
  local t = batches[market]
  if not t then
    t = batch.open(book.open(shard, market, 's'), maker, order.REASON_FUNDS, now_ms)
    batches[market] = t
  end
  if not t.book or t.book.mode == book.HALTED then
    return nil
  end
  local cash, yes, no = t.cash, t.yes, t.no
  batch.add(t, hash, packed, created, number, kind, price, size, expiration)
  return t.cash - cash + t.yes - yes + t.no - no
end

local function write_all(shard, batches)
  for _, t in pairs(batches) do
    if t.hashes[1] then
      batch.write(t, shard)
    end
  end
end

-- Whether an order is of this side, market and outcome; nil is any.
local function is_wanted(packed, wanted)
  local kind = packed:byte(order.KIND_AT)
  return (not wanted.side or order.side(kind) == wanted.side)
    and (not wanted.outcome or order.outcome(kind) == wanted.outcome)
    and (not wanted.market or packed:sub(order.MARKET_FROM, order.MARKET_TO) == wanted.market)
end

-- Cancels resting orders of the wallet of the `wanted` side, market and outcome until `missing` micro-units of its reserves have
-- come back, within what is `left`. Returns whether others must follow.
local function cancel(shard, maker, wanted, missing, left, now_ms)
  local batches, place, ended, more = {}, 0, false, false
  while missing > 0 and not ended and not more do
    local hashes = redis.call('ZREVRANGEBYSCORE', shard .. 'u:' .. maker, '+inf', '(0', 'LIMIT', integer.text(place),
      integer.text(PAGE))
    local records = hashes[1] and redis.call('HMGET', shard .. 'o', unpack(hashes)) or {}
    place, ended, left.looks = place + #hashes, #hashes < PAGE, left.looks - #hashes
    for i = 1, #hashes do
      if missing > 0 and records[i] and is_wanted(records[i], wanted) then
        local back = left.cancels > 0 and take(shard, maker, batches, hashes[i], records[i], now_ms)
        if back then
          left.cancels, left.cancelled, missing = left.cancels - 1, left.cancelled + 1, missing - back
        else
          more = true
        end
      end
    end
    more = more or left.looks <= 0 and missing > 0 and not ended
  end
  write_all(shard, batches)
  left.more = left.more or more
  return more
end

-- Cancels orders until no more of an asset is promised than the wallet at `slot` has. Orders that remain for another call stay
-- uncovered, so the next reading of the wallet finds them.
function unfunded.cover(shard, a, slot, market, asset, any_caps, left, now_ms)
  local free = caps.free(shard, a, slot, market, asset, any_caps)
  if free >= 0 or select(4, ledger.means(a, slot, asset)) == 0 then
    return
  end
  local wanted = { side = order.BUY }
  if asset ~= ledger.COLLATERAL then
    wanted = { side = order.SELL, market = market, outcome = asset - ledger.YES }
  end
  cancel(shard, a.addresses[slot], wanted, -free, left, now_ms)
end

-- Cancels all such orders of the wallet. Those that remain are noted for cancel_unpaid.
function unfunded.sweep(shard, maker, wanted, left, now_ms)
  if cancel(shard, maker, wanted, integer.MOST, left, now_ms) then
    redis.call('SADD', shard .. 'up', maker .. struct.pack(WANTED, wanted.side or ANY, wanted.market or ANY_MARKET,
      wanted.outcome or ANY))
  end
end

-- Continues with what `sweep` has noted; without a rest the note is gone.
function unfunded.resume(shard, noted, left, now_ms)
  local side, market, outcome = struct.unpack(WANTED, noted, unfunded.WALLET_BYTES + 1)
  local wanted = { side = side ~= ANY and side or nil, market = market ~= ANY_MARKET and market or nil,
    outcome = outcome ~= ANY and outcome or nil }
  if not cancel(shard, noted:sub(1, unfunded.WALLET_BYTES), wanted, integer.MOST, left, now_ms) then
    redis.call('SREM', shard .. 'up', noted)
  end
end

-- Cancels those of the named orders that still rest; the caller names those of one match.
function unfunded.withdraw(shard, maker, hashes, left, now_ms)
  local records, batches = redis.call('HMGET', shard .. 'o', unpack(hashes)), {}
  for i = 1, #hashes do
    if records[i] and records[i]:byte(-1) <= order.PARTIALLY_FILLED
      and take(shard, maker, batches, hashes[i], records[i], now_ms) then
      left.cancelled = left.cancelled + 1
    end
  end
  write_all(shard, batches)
end

return unfunded
