-- The legs of a settlement: each wallet that takes part, the amount that the match took of its asset, and the amount it brings.
-- They follow from the stored match and the orders, so placing, release and failure use one set of numbers, and so does the audit.

local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local trades = require('lib.trades')

local legs = {}

-- The bytes before the fills of a stored match, and those of one fill.
local HEAD_BYTES, FILL_BYTES, HASH_BYTES = 36, 67, 32

-- The leg of an order, for `lots` worth `value` of which the fee is deducted from the asset that it brings.
local function leg_of(market, hash, packed, taken_cash, lots, value, fee)
  local _, _, kind, _, _, _, wallet = struct.unpack(order.BODY_IN_MARKET, packed)
  local side, tokens = order.side(kind), lots * ledger.MICRO_PER_LOT
  local asset, got = ledger.assets_of(side, order.outcome(kind))
  return { market = market, hash = hash, wallet = wallet, lots = lots, value = value, asset = asset, got = got, side = side,
    taken = side == order.BUY and taken_cash or tokens, brought = (side == order.BUY and tokens or value) - fee }
end

-- Returns the legs of the settlement with this name, the taker's first; nil when the match or one of its orders is gone.
-- `hold` is how the contract takes the taker's collateral.
function legs.of(shard, name, trade_ms, hold)
  local market, sequence, part = struct.unpack('>c8I6B', name)
  local id = trades.id(trade_ms, sequence)
  local entry = redis.call('XRANGE', shard .. 'm:' .. market .. ':t', id, id)[1]
  if not entry then
    return nil
  end
  local packed = entry[2][2]
  local fills = struct.unpack('>I2', packed, HEAD_BYTES - 1)
  local first = part * ledger.SETTLEMENT_MAKERS_MAX
  local count = math.min(fills - first, ledger.SETTLEMENT_MAKERS_MAX)
  local hashes = { packed:sub(1, HASH_BYTES) }
  for i = 1, count do
    local at = HEAD_BYTES + (first + i - 1) * FILL_BYTES + 1
    hashes[i + 1] = packed:sub(at, at + HASH_BYTES - 1)
  end
  local records, found = redis.call('HMGET', shard .. 'o', unpack(hashes)), {}
  local all_lots, all_value, all_fees = 0, 0, 0
  for i = 1, count do
    local record, at = records[i + 1], HEAD_BYTES + (first + i - 1) * FILL_BYTES + 1
    if not record then
      return nil
    end
    local _, price, lots, _, taker_fee, maker_fee = struct.unpack(trades.FILL, packed, at)
    local _, _, _, own = struct.unpack(order.BODY_IN_MARKET, record)
    found[i + 1] = leg_of(market, hashes[i + 1], record, lots * own, lots, lots * own, maker_fee)
    all_lots, all_value, all_fees = all_lots + lots, all_value + lots * price, all_fees + taker_fee
  end
  if count < 1 or not records[1] then
    return nil
  end
  local _, _, kind, limit = struct.unpack(order.BODY_IN_MARKET, records[1])
  local taken = ledger.taken_of(hold, kind % 8, limit, all_lots, all_value)
  found[1] = leg_of(market, hashes[1], records[1], taken, all_lots, all_value, all_fees)
  return found
end

-- Adds the lots of each order to those that the chain has settled, or to those whose match failed; with `sign` -1 it takes them
-- back. Returns what is to be written.
--
-- {x}:os   hash: order hash -> settled lots I6, lots of failed matches I6; absent while no match of the order is final
function legs.counted(shard, found, is_confirmed, sign)
  local hashes, written = {}, {}
  for i = 1, #found do
    hashes[i] = found[i].hash
  end
  local before = redis.call('HMGET', shard .. 'os', unpack(hashes))
  for i = 1, #found do
    local settled, failed, lots = 0, 0, sign * found[i].lots
    if before[i] then
      settled, failed = struct.unpack('>I6I6', before[i])
    end
    if is_confirmed then
      settled = settled + lots
    else
      failed = failed + lots
    end
    integer.check(settled, 0)
    integer.check(failed, 0)
    written[2 * i - 1], written[2 * i] = hashes[i], struct.pack('>I6I6', settled, failed)
  end
  return written
end

function legs.write_counted(shard, written)
  redis.call('HSET', shard .. 'os', unpack(written))
end

return legs
