-- Funds that came into a wallet lately. A stake that is sent on before its match is final could make the matches of many wallets
-- fail; so an order may need more than a small value only of what has been in its wallet for BLOCKS final blocks.
--
-- {x}:fr   hash: wallet, or wallet + market + outcome (lib/caps) -> FORMAT: `aged`, the amount that has stayed that long; `low`, the
--          least amount since block `since`; block `last` of the latest reading (I7 I7 I6 I6); and `until`, the block up to which
--          every block is read for it (I6, lib/ledger). It exists from the first order on that needs more
--
-- What a confirmed match brings counts at once: it cost another wallet as much.

local fresh = {}

fresh.FORMAT = '>I7I7I6I6I6'
-- docs/run/chain.md names it. Of a wallet that is read less often than each GAP blocks it is not known what it had meanwhile.
fresh.BLOCKS, fresh.GAP = 50, 5

-- Whether any wallet is noted; mostly there is none.
function fresh.exist(shard)
  return redis.call('EXISTS', shard .. 'fr') == 1
end

-- The amount of an asset that has stayed long enough.
function fresh.aged(shard, field)
  local packed = redis.call('HGET', shard .. 'fr', field)
  return packed and struct.unpack(fresh.FORMAT, packed) or 0
end

-- Takes a reading of a final block.
function fresh.observe(shard, field, amount, block)
  local packed = redis.call('HGET', shard .. 'fr', field)
  if not packed then
    return
  end
  local aged, low, since, last, til = struct.unpack(fresh.FORMAT, packed)
  if block <= last then
    return
  end
  if block - last > fresh.GAP then
    low, since = amount, block
  end
  aged, low = math.min(aged, amount), math.min(low, amount)
  if block - since >= fresh.BLOCKS then
    aged, low, since = low, amount, block
  end
  if aged >= amount then
    til = 0
  end
  redis.call('HSET', shard .. 'fr', field, struct.pack(fresh.FORMAT, aged, low, since, block, til))
end

-- Adds what a confirmed match brought.
function fresh.earn(shard, field, brought)
  local packed = redis.call('HGET', shard .. 'fr', field)
  if packed then
    local aged, low, since, last, til = struct.unpack(fresh.FORMAT, packed)
    redis.call('HSET', shard .. 'fr', field, struct.pack(fresh.FORMAT, aged + brought, low + brought, since, last, til))
  end
end

-- Notes that an order needs more than has stayed long enough: the asset is read with every block until all of it has.
function fresh.watch(shard, field, amount, block)
  local packed = redis.call('HGET', shard .. 'fr', field)
  local aged, low, since, last = 0, amount, block, block
  if packed then
    aged, low, since, last = struct.unpack(fresh.FORMAT, packed)
  end
  redis.call('HSET', shard .. 'fr', field, struct.pack(fresh.FORMAT, aged, low, since, last, block + 3 * fresh.BLOCKS))
end

return fresh
