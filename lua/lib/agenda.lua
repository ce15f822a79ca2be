-- The pending work of a market, kept with its status by every verb that changes one or the other.
--
-- {x}:closes   sorted set: open markets with a closing time -> the millisecond at which they close
-- {x}:ending   set: markets that have ended and may still have resting orders or, once resolved, unpaid holders
-- The worker reads both, so it need not look at every market.

local book = require('lib.book')
local integer = require('lib.integer')

local agenda = {}

-- Returns the closing time in a market's document, as its status uses it; nil without a closing time. A document that cannot
-- be parsed ends the script, so call it before the first write.
function agenda.closing(document, status)
  if status ~= book.OPEN and status ~= book.PAUSED then
    return nil
  end
  local texts = cjson.decode(document).texts
  local closes_ms = texts and texts.closesAtMs
  -- A document without a closing time has a null there.
  return type(closes_ms) == 'number' and closes_ms or nil
end

-- Updates the pending work of a market after a change of its status or closing time.
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

-- Whether the closing time of an open or paused market has come.
function agenda.is_due(shard, market, now_ms)
  local closes_ms = redis.call('ZSCORE', shard .. 'closes', market)
  return closes_ms and now_ms >= tonumber(closes_ms)
end

-- The status by which a command is judged: from its closing time on a market is closed, even before the worker has closed it.
function agenda.status(shard, market, status, now_ms)
  return status <= book.PAUSED and agenda.is_due(shard, market, now_ms) and book.CLOSED or status
end

-- Removes a market that has ended and needs no more work.
function agenda.done(shard, market)
  redis.call('SREM', shard .. 'ending', market)
end

return agenda
