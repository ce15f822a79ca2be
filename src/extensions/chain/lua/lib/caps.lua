-- Bad news of blocks that are not final: the lower amount of an asset that a wallet has there. It limits the wallet at once.
-- Good news waits until it is final.
--
-- {x}:cap   hash: wallet, or wallet + market + outcome -> amount I7 (micro-units), number of the block I6

local integer = require('lib.integer')
local ledger = require('lib.ledger')

local caps = {}

caps.FORMAT = '>I7I6'
-- Blocks after its own at which a cap is deleted, and maximum caps that one call reads.
local KEPT_BLOCKS, LOOK_MAX = 1000, 10

-- The field of an asset.
function caps.field(address, market, asset)
  return asset == ledger.COLLATERAL and address or address .. market .. asset - ledger.YES
end

-- Whether there is any cap. Mostly there is none, and then the functions below need not look for each.
function caps.exist(shard)
  return redis.call('EXISTS', shard .. 'cap') == 1
end

-- Returns the free amount of an asset, which is below zero when more is promised than is there. `any` is whether caps exist.
function caps.free(shard, a, slot, market, asset, any)
  local allowed, _, promised = ledger.means(a, slot, asset)
  local packed = any and redis.call('HGET', shard .. 'cap', caps.field(a.addresses[slot], market, asset))
  local cap = packed and struct.unpack(caps.FORMAT, packed) or integer.MOST
  return math.min(allowed, cap) - promised
end

-- Limits an asset of a wallet to an amount seen in a block, while it is below the stored one.
function caps.set(shard, a, slot, market, asset, amount, block)
  local allowed = ledger.means(a, slot, asset)
  local field = caps.field(a.addresses[slot], market, asset)
  if amount < allowed then
    redis.call('HSET', shard .. 'cap', field, struct.pack(caps.FORMAT, amount, block))
  else
    redis.call('HDEL', shard .. 'cap', field)
  end
end

-- Removes the cap of an asset if it came from a block up to `block`: the stored amounts contain it now.
function caps.lift(shard, address, market, asset, block)
  local field = caps.field(address, market, asset)
  local packed = redis.call('HGET', shard .. 'cap', field)
  if packed and select(2, struct.unpack(caps.FORMAT, packed)) <= block then
    redis.call('HDEL', shard .. 'cap', field)
  end
end

-- Removes some caps that no reading has lifted. Nothing is promised of these assets, so the observer reads them no more; and an
-- order needs a new reading of them first (lib/admission).
function caps.forget(shard, final)
  local found = redis.call('HRANDFIELD', shard .. 'cap', integer.text(LOOK_MAX), 'WITHVALUES')
  for i = 1, #found, 2 do
    if select(2, struct.unpack(caps.FORMAT, found[i + 1])) < final - KEPT_BLOCKS then
      redis.call('HDEL', shard .. 'cap', found[i])
    end
  end
end

-- Returns the amount and the block of a cap; nil without one.
function caps.get(shard, field)
  local packed = redis.call('HGET', shard .. 'cap', field)
  if packed then
    return struct.unpack(caps.FORMAT, packed)
  end
end

-- Lowers the cap of an asset by what a settlement took that is final now: the cap contained it, because it was out.
function caps.lower(shard, address, market, asset, taken)
  local field = caps.field(address, market, asset)
  local amount, block = caps.get(shard, field)
  if amount then
    redis.call('HSET', shard .. 'cap', field, struct.pack(caps.FORMAT, math.max(amount - taken, 0), block))
  end
end

return caps
