-- Why an order cannot be booked, although its record is not in Redis: it may have left for the archive.

local traces = require('lib.traces')

local gone = {}

-- How long the caller's word that the archive does not have a hash is good. An order stays in Redis for longer after its end.
local WORD_MS = 30000

-- Why an order cannot be booked in the market whose hash is under `key` and has `packed` in its field of traces; nil when these do
-- not stop it. `last` and `trace` are as in lib/traces.
--   ORDER_EXPIRED   the clock is behind the one by which an order with this expiration left without a trace, for example because
--                   another Redis took over
--   GONE            the market has the trace of the order, and the caller has not said otherwise. It says so by the argument behind
--                   the `given` ones of the script: the time at which another call of it met the trace of this order, and the
--                   archive did not have the order then. A field of traces in its place is no such word: it is not the market's.
function gone.objection(key, packed, last, trace, expiration, now_ms, given)
  local count, _, expired, factor = traces.open(packed)
  if expiration > 0 and expiration <= expired and now_ms < expiration * 1000 then
    return 'ORDER_EXPIRED'
  end
  local span, number = traces.span(count), traces.whole(last, factor)
  local place = traces.place(number, count, span)
  if redis.call('SISMEMBER', traces.bucket(key, place, factor), trace) == 0 then
    return nil
  end
  local looked_ms = tonumber(ARGV[given + 1] or '') or math.huge
  return not (now_ms >= looked_ms and now_ms < looked_ms + WORD_MS) and 'GONE' or nil
end

return gone
