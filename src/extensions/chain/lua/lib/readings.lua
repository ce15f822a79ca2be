-- Readings of wallets, as src/extensions/chain/store packs them: back to back, each HEAD, then for each of its markets TOKENS_READ.

local caps = require('lib.caps')
local fresh = require('lib.fresh')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local unfunded = require('lib.unfunded')

local readings = {}

-- wallet, balance and allowance (micro-units), flags (lib/ledger), nonce, number of markets; then market, Yes, No.
readings.HEAD, readings.TOKENS_READ = '>c20I7I7BI4B', '>c8I7I7'
local HEAD_BYTES, TOKENS_BYTES = 40, 22

-- Unpacks readings into a list of tables.
function readings.unpack(packed)
  local found, at = {}, 1
  while at <= #packed do
    local wallet, balance, allowance, flags, nonce, count = struct.unpack(readings.HEAD, packed, at)
    local reading = { wallet = wallet, balance = balance, allowance = allowance, flags = flags, nonce = nonce, markets = {} }
    at = at + HEAD_BYTES
    for i = 1, count do
      local market, yes, no = struct.unpack(readings.TOKENS_READ, packed, at)
      reading.markets[i], at = { id = market, [ledger.YES] = yes, [ledger.NO] = no }, at + TOKENS_BYTES
    end
    found[#found + 1] = reading
  end
  return found
end

-- Stores a reading of the collateral, with the tokens of one market or none, in a final block.
local function store_one(shard, reading, market, block, any_caps)
  local wallet = reading.wallet
  local a = ledger.read(shard, market and market.id, { wallet }, 1)
  local is_known = a.cash_of[1]
  local raised = ledger.observe_cash(a, 1, reading.balance, reading.allowance, reading.flags, reading.nonce, block)
  if market then
    ledger.observe_tokens(a, 1, market[ledger.YES], market[ledger.NO], block)
  end
  if fresh.exist(shard) then
    fresh.observe(shard, wallet, reading.balance, block)
  end
  if market and fresh.exist(shard) then
    fresh.observe(shard, caps.field(wallet, market.id, ledger.YES), market[ledger.YES], block)
    fresh.observe(shard, caps.field(wallet, market.id, ledger.NO), market[ledger.NO], block)
  end
  ledger.write(a, shard, market and market.id, 1)
  if any_caps then
    caps.lift(shard, wallet, nil, ledger.COLLATERAL, block)
  end
  if any_caps and market then
    caps.lift(shard, wallet, market.id, ledger.YES, block)
    caps.lift(shard, wallet, market.id, ledger.NO, block)
  end
  if raised and is_known then
    -- lua/invalidate_orders.lua ends the orders below it.
    redis.call('HSET', shard .. 'nn', wallet, integer.text(raised))
  end
end

-- Stores readings of a final block.
function readings.store(shard, list, block)
  local any_caps = caps.exist(shard)
  for i = 1, #list do
    local reading = list[i]
    for k = 1, math.max(1, #reading.markets) do
      store_one(shard, reading, reading.markets[k], block, any_caps)
    end
  end
end

-- Limits the wallets to readings of a block that is not final.
function readings.limit(shard, list, block)
  for i = 1, #list do
    local reading = list[i]
    local is_approved = ledger.has(reading.flags, ledger.APPROVED)
    caps.set(shard, ledger.read(shard, nil, { reading.wallet }, 1), 1, nil, ledger.COLLATERAL,
      math.min(reading.balance, reading.allowance), block)
    for k = 1, #reading.markets do
      local market = reading.markets[k]
      local a = ledger.read(shard, market.id, { reading.wallet }, 1)
      caps.set(shard, a, 1, market.id, ledger.YES, is_approved and market[ledger.YES] or 0, block)
      caps.set(shard, a, 1, market.id, ledger.NO, is_approved and market[ledger.NO] or 0, block)
    end
  end
end

-- Cancels orders that the wallets of the readings can no longer pay, within what is `left` (lib/unfunded). A wallet whose numbers
-- are of a block after `block` waits: settlements that are final there have not ended yet.
function readings.cover(shard, list, block, left, now_ms)
  local any_caps = caps.exist(shard)
  local function cover(a, market, asset)
    unfunded.cover(shard, a, 1, market, asset, any_caps, left, now_ms)
  end
  for i = 1, #list do
    local reading = list[i]
    for k = 1, math.max(1, #reading.markets) do
      local market = reading.markets[k] and reading.markets[k].id
      local a = ledger.read(shard, market, { reading.wallet }, 1)
      local cash = ledger.cash(a, 1)
      local is_whole = cash and cash[ledger.BLOCK] <= block
      if is_whole and k == 1 then
        cover(a, nil, ledger.COLLATERAL)
      end
      if is_whole and market then
        cover(a, market, ledger.YES)
        cover(a, market, ledger.NO)
      end
    end
  end
end

return readings
