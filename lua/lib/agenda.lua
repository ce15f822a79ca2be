-- What a market has ahead of it, kept with its status by every verb that changes one or the other.
--
-- {x}:closes   sorted set: markets that are traded and have an end -> the millisecond at which they close
-- {x}:ending   set: markets that are over and may still have resting orders or, once resolved, unpaid holders
-- The worker reads both, so that it need not look at every market there is.

local book = require('lib.book')
local integer = require('lib.integer')

local agenda = {}

-- Notes what follows from a status and from the closing time in the market's document.
function agenda.note(shard, market, status)
  local closes_ms = nil
  if status == book.OPEN or status == book.PAUSED then
    local texts = cjson.decode(redis.call('HGET', shard .. 'mk', market)).texts
    closes_ms = texts and texts.closesAtMs
  end
  -- Without an end the document has a null there.
  if type(closes_ms) == 'number' then
    redis.call('ZADD', shard .. 'closes', integer.text(closes_ms), market)
  else
    redis.call('ZREM', shard .. 'closes', market)
  end
  if status > book.PAUSED then
    redis.call('SADD', shard .. 'ending', market)
  end
end

-- Whether the closing time of a market that is traded has come.
function agenda.is_due(shard, market, now_ms)
  local closes_ms = redis.call('ZSCORE', shard .. 'closes', market)
  return closes_ms and now_ms >= tonumber(closes_ms)
end

-- Nothing is left to be done in a market that is over.
function agenda.done(shard, market)
  redis.call('SREM', shard .. 'ending', market)
end

return agenda
