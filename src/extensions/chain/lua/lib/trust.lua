-- The trust in a wallet: the value of its matches that may wait for the chain, and its suspension after failed matches.
--
-- {x}:str   hash: wallet -> strikes B, the end of its suspension I6 (ms); and of the last strike its time I6 (ms), its reason B
--           (lib/finality) and the name c15 of the settlement that failed (lib/settlements)
-- {x}:sum   hash: `strikes`, all strikes ever
-- {x}:aw:<address>   sorted set: new wallets that placed orders lately from an address of clients
--           (src/http/guard/client-address.ts), by ms; it expires

local integer = require('lib.integer')
local ledger = require('lib.ledger')

local trust = {}

trust.FORMAT = '>BI6I6Bc15'
local MINUTE_MS, HOUR_MS, DAY_MS = 60000, 3600000, 86400000
-- Strikes are forgotten after this time without another.
local MEMORY_MS = 2592000000
local STRIKES_MOST = 255
-- The limit grows by this factor, once as many times itself has been settled.
local STEP = 10
-- So many times the limit may wait for the chain and rest in the books together, so that a wallet can quote many prices.
local RESTING_TIMES = 10

-- How many times the limit of a new wallet all new wallets of an address may have together, and how many such wallets it has.
local ADDRESS_TIMES, ADDRESS_WALLETS_MAX, ADDRESS_MS = 10, 100, '3600000'

-- Returns the packed strikes of a wallet that is suspended; nil when it is not.
function trust.suspension(shard, address, now_ms)
  local packed = redis.call('HGET', shard .. 'str', address)
  return packed and now_ms < select(2, struct.unpack(trust.FORMAT, packed)) and packed or nil
end

-- Suspends a wallet by whose fault the settlement of this name failed: for a minute, an hour, a day. Failures during a suspension
-- belong to the deed that led to it: a wallet that withdraws its funds once fails each match that is under way.
function trust.strike(shard, address, name, reason, now_ms)
  local packed = redis.call('HGET', shard .. 'str', address)
  local strikes, until_ms, last_ms = 0, 0, 0
  if packed then
    strikes, until_ms, last_ms = struct.unpack(trust.FORMAT, packed)
  end
  if now_ms < until_ms then
    return
  end
  strikes = now_ms - last_ms > MEMORY_MS and 1 or math.min(strikes + 1, STRIKES_MOST)
  local wait_ms = strikes == 1 and MINUTE_MS or strikes == 2 and HOUR_MS or DAY_MS
  redis.call('HSET', shard .. 'str', address, struct.pack(trust.FORMAT, strikes, now_ms + wait_ms, now_ms,
    reason, name))
  redis.call('HINCRBY', shard .. 'sum', 'strikes', '1')
end

-- The value of matches of a wallet that may wait for the chain, from the limit of a new wallet; a contract stays at that one,
-- because it can refuse at any time. `cash` is its open account.
function trust.limit(cash, first)
  local limit = first
  while not ledger.has(cash[ledger.FLAGS], ledger.HAS_CODE) and cash[ledger.SETTLED] >= STEP * limit do
    limit = STEP * limit
  end
  return limit
end

-- Returns nil when the wallet keeps to its limits with one more order, which trades for `value` at most. Else it returns the value
-- that waits or may wait for the chain, the limit, whether open orders are counted, and the value of settled matches at which the
-- limit grows, 0 for a contract. An open order may be matched at any moment. It is counted with one unit of collateral for each
-- token, and stays counted when it is matched.
function trust.excess(cash, first, value)
  local limit, unsettled = trust.limit(cash, first), cash[ledger.UNSETTLED]
  local grows_at = ledger.has(cash[ledger.FLAGS], ledger.HAS_CODE) and 0 or STEP * limit
  if unsettled + value > limit then
    return unsettled, limit, false, grows_at
  end
  local resting = unsettled + cash[ledger.RESERVED] + cash[ledger.RESTING]
  if resting + value > RESTING_TIMES * limit then
    return resting, RESTING_TIMES * limit, true, grows_at
  end
end

-- Returns the value that waits for the chain of the other new wallets that placed orders from the address, where one that is
-- suspended after a failed match counts with the limit of a new wallet; and those of them that have nothing open.
local function crowd(shard, key, maker, first, now_ms)
  local wallets = redis.call('ZRANGE', key, '0', '-1')
  local a, waiting, idle, others = wallets[1] and ledger.read(shard, nil, wallets, #wallets), 0, {}, 0
  for i = 1, #wallets do
    local cash = ledger.cash(a, i)
    local own = wallets[i] ~= maker and cash and trust.limit(cash, first) == first and cash[ledger.UNSETTLED] or 0
    if wallets[i] ~= maker and trust.suspension(shard, wallets[i], now_ms) then
      own = math.max(own, first)
    end
    if wallets[i] == maker then
      own = 0
    elseif own == 0 and (not cash or cash[ledger.UNSETTLED] + cash[ledger.RESERVED] + cash[ledger.RESTING] == 0) then
      idle[#idle + 1] = wallets[i]
    else
      others = others + 1
    end
    waiting = waiting + own
  end
  return waiting, idle, others
end

local function address_key(shard, address)
  return shard .. 'aw:' .. address
end

-- Returns nil when the new wallets of the client's address keep to their limit with one more order of this one, which trades for
-- `value` at most; else what waits already, and the limit.
function trust.crowding(shard, address, maker, cash, first, value, now_ms)
  if address == '' or trust.limit(cash, first) > first then
    return nil
  end
  local waiting, _, others = crowd(shard, address_key(shard, address), maker, first, now_ms)
  waiting = waiting + cash[ledger.UNSETTLED]
  if waiting + value > ADDRESS_TIMES * first or others >= ADDRESS_WALLETS_MAX then
    return waiting, ADDRESS_TIMES * first
  end
end

-- Notes that a new wallet placed an order from the address.
function trust.note(shard, address, maker, cash, first, now_ms)
  if address == '' or trust.limit(cash, first) > first then
    return
  end
  local key = address_key(shard, address)
  local _, idle = crowd(shard, key, maker, first, now_ms)
  if idle[1] then
    redis.call('ZREM', key, unpack(idle))
  end
  redis.call('ZADD', key, integer.text(now_ms), maker)
  redis.call('PEXPIRE', key, ADDRESS_MS)
end

return trust
