-- The standing of a wallet: how much of it may wait for the chain, and how long it may place no orders after failed matches.
--
-- {x}:str   hash: wallet -> strikes B, the end of its suspension I6 (ms), the time of the last strike I6 (ms)
-- {x}:sum   hash: `strikes`, all strikes ever

local ledger = require('lib.ledger')

local standing = {}

standing.FORMAT = '>BI6I6'
local MINUTE_MS, HOUR_MS, DAY_MS = 60000, 3600000, 86400000
-- Strikes are forgotten after so long without another.
local MEMORY_MS = 2592000000
local STRIKES_MOST = 255
-- The limit grows by this factor, once as many times itself has been settled.
local STEP = 10
-- So many times the limit may wait for the chain and rest in the books together, so that a wallet can quote many prices.
local RESTING_TIMES = 10

-- The end of the wallet's suspension (ms); 0 without one.
function standing.suspended_until(shard, address)
  local packed = redis.call('HGET', shard .. 'str', address)
  return packed and select(2, struct.unpack(standing.FORMAT, packed)) or 0
end

-- Suspends a wallet by whose fault a match failed: for a minute, an hour, a day. Failures during a suspension belong to the deed
-- that led to it: a wallet that withdraws its funds once fails each match that is under way.
function standing.strike(shard, address, now_ms)
  local packed = redis.call('HGET', shard .. 'str', address)
  local strikes, until_ms, last_ms = 0, 0, 0
  if packed then
    strikes, until_ms, last_ms = struct.unpack(standing.FORMAT, packed)
  end
  if now_ms < until_ms then
    return
  end
  strikes = now_ms - last_ms > MEMORY_MS and 1 or math.min(strikes + 1, STRIKES_MOST)
  local wait_ms = strikes == 1 and MINUTE_MS or strikes == 2 and HOUR_MS or DAY_MS
  redis.call('HSET', shard .. 'str', address, struct.pack(standing.FORMAT, strikes, now_ms + wait_ms, now_ms))
  redis.call('HINCRBY', shard .. 'sum', 'strikes', '1')
end

-- The value of matches of a wallet that may wait for the chain, from the limit of a new wallet; a contract stays at that one,
-- because it can refuse at any time. `cash` is its open account.
function standing.limit(cash, first)
  local limit = first
  while not ledger.has(cash[ledger.FLAGS], ledger.HAS_CODE) and cash[ledger.SETTLED] >= STEP * limit do
    limit = STEP * limit
  end
  return limit
end

-- Returns nil when the wallet keeps to its limits with one more order, which trades for `value` at most. Else it returns the value
-- that waits or may wait for the chain, the limit, and whether open orders are counted. An open order may be matched at any
-- moment. It is counted with one unit of collateral for each token, and stays counted when it is matched.
function standing.excess(cash, first, value)
  local limit, unsettled = standing.limit(cash, first), cash[ledger.UNSETTLED]
  if unsettled + value > limit then
    return unsettled, limit, false
  end
  local resting = unsettled + cash[ledger.RESERVED] + cash[ledger.RESTING]
  if resting + value > RESTING_TIMES * limit then
    return resting, RESTING_TIMES * limit, true
  end
end

return standing
