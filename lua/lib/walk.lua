-- A walk over the open orders of a wallet, oldest first, in bounded steps, that cancels the orders it selects. When the last
-- step ends, no order that the walk selects is open.
--
-- The place of a walk is a rank, and the number of orders of the wallet, open or final, with a lower rank; those that left the
-- index for the archive are counted, too ({x}:fo, lib/archive). The number never falls: becoming final changes only the sign of a
-- rank. An order booked behind the place therefore changes it, even if the clock moved between two steps: then the walk starts
-- again from the beginning.

local batch = require('lib.batch')
local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')

local walk = {}

-- Positions in the reply of a step: the rank at which to continue, and the first market touched.
walk.RANK_AT, walk.TOUCHED_AT = 3, 6
walk.LOOK_MAX, walk.CANCEL_MAX, walk.MARKETS_MAX = 1000, 500, 50
-- The rank at which every walk begins; all ranks are above it.
local BEGINNING = '0'

-- The number of orders of the wallet with a rank below `rank`, and of those that left the index, whatever their rank was.
local function count_behind(shard, maker, rank)
  local gone = redis.call('HGET', shard .. 'fo', maker)
  return redis.call('ZCOUNT', shard .. 'u:' .. maker, '(-' .. rank, '(' .. rank) + (gone and struct.unpack('>I6', gone) or 0)
end

-- Whether the walk selects an order. `wanted` is a market's id, an outcome and a side, each '' for any; then the moment at
-- which the wallet went away (ms), which selects older orders only, or 0.
local function is_wanted(wanted, packed, now_ms)
  local market, outcome, side, gone_ms = unpack(wanted)
  local kind = packed:byte(order.KIND_AT)
  if market ~= '' and packed:sub(order.MARKET_FROM, order.MARKET_TO) ~= market
    or outcome ~= '' and order.outcome(kind) ~= tonumber(outcome) or side ~= '' and order.side(kind) ~= tonumber(side) then
    return false
  end
  local created_ms = gone_ms > 0 and struct.unpack('>I6', packed) or 0
  -- An order with a time in the future was created before the clock was set back.
  return created_ms < gone_ms or gone_ms == 0 or created_ms > now_ms
end

-- Takes the selected orders out of their books, in memory. Returns the batches, the market of the oldest order first, and the
-- index of the first order beyond the bounds of a step.
local function plan(shard, maker, hashes, wanted, reason, now_ms)
  local batches, of, cancelled = {}, {}, 0
  for from = 1, #hashes, walk.CANCEL_MAX do
    local till = math.min(from + walk.CANCEL_MAX - 1, #hashes)
    local records = redis.call('HMGET', shard .. 'o', unpack(hashes, from, till))
    for i = from, till do
      local packed = records[i - from + 1]
      if is_wanted(wanted, packed, now_ms) then
        local market = packed:sub(order.MARKET_FROM, order.MARKET_TO)
        if cancelled == walk.CANCEL_MAX or not of[market] and #batches == walk.MARKETS_MAX then
          return batches, i
        end
        if not of[market] then
          of[market] = batch.open(book.open(shard, market, 's'), maker, reason, now_ms)
          batches[#batches + 1] = of[market]
        end
        batch.add(of[market], hashes[i], packed, struct.unpack(order.BODY_IN_MARKET, packed))
        cancelled = cancelled + 1
      end
    end
  end
  return batches, nil
end

-- Runs one step of the wallet's walk from the place `from`, `behind`, as one command in each market in which it cancels an
-- order. Returns the reply: OK, nowMs, the place at which to continue (rank '' at the end), the hashes of the cancelled
-- orders, concatenated, then each market touched and the number of its command.
function walk.step(shard, maker, from, behind, look, wanted, reason, now_ms)
  local key = shard .. 'u:' .. maker
  ledger.abandon(shard, maker, wanted[1], now_ms)
  if from ~= BEGINNING and count_behind(shard, maker, from) ~= tonumber(behind) then
    from = BEGINNING
  end
  look = math.min(look, walk.LOOK_MAX)
  local found = redis.call('ZRANGEBYSCORE', key, from, '+inf', 'WITHSCORES', 'LIMIT', '0', integer.text(look + 1))
  local hashes = {}
  for i = 1, math.min(#found / 2, look) do
    hashes[i] = found[2 * i - 1]
  end
  local batches, stopped = plan(shard, maker, hashes, wanted, reason, now_ms)
  local rank = found[2 * (stopped or look + 1)] or ''
  local reply, cancelled = { 'OK', integer.text(now_ms), rank, 0, '' }, {}
  for i = 1, #batches do
    local number, market, ended = batch.write(batches[i], shard)
    cancelled[i], reply[2 * i + 4], reply[2 * i + 5] = ended, market, integer.text(number)
  end
  reply[4], reply[5] = rank ~= '' and count_behind(shard, maker, rank) or 0, table.concat(cancelled)
  return reply
end

return walk
