-- The pending work of a market, kept with its status by every verb that changes one or the other.
--
-- {x}:closes   sorted set: markets that are traded and have an end -> the millisecond at which they close
-- {x}:ending   set: markets that are over and may still have resting orders or, once resolved, unpaid holders
-- The worker reads both, so that it need not look at every market there is.

local book = require('lib.book')
local integer = require('lib.integer')

local agenda = {}

-- The closing time in a market's document, as it counts in a status; nil without one. A document that cannot be read ends
-- the script, so this comes before its first write.
function agenda.closing(document, status)
  if status ~= book.OPEN and status ~= book.PAUSED then
    return nil
  end
  local texts = cjson.decode(document).texts
  local closes_ms = texts and texts.closesAtMs
  -- Without an end the document has a null there.
  return type(closes_ms) == 'number' and closes_ms or nil
end

-- Notes what follows from a status and from the closing time.
function agenda.note(shard, market, status, closes_ms)
  if closes_ms then
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
