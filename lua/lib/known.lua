-- Whether an order was booked before, although its record is not in Redis: it may be in the archive.

local traces = require('lib.traces')

local known = {}

-- How long the caller's word that the archive does not have a hash is good. An order stays in Redis for longer after its end.
local WORD_MS = 30000

-- Returns the code with which the order of place_order or replace_order is refused in a market that has `packed` in its field of
-- traces; nil when these do not stop it.
--   ORDER_EXPIRED   the clock is behind the one by which an order with this expiration left without a trace, for example because
--                   another Redis took over
--   GONE            the market has the trace of the order, and the caller has not said otherwise. It says so by ARGV[4]:
--                   the time at which another call met the trace of this order, and the archive did not have the order then.
function known.objection(packed, expiration, now_ms)
  local count, span, factor, expired = struct.unpack(traces.FORMAT, packed)
  if expiration > 0 and expiration <= expired and now_ms < expiration * 1000 then
    return 'ORDER_EXPIRED'
  end
  local trace, last = traces.of(ARGV[2])
  local bucket = traces.key(KEYS[1], traces.place(traces.number(last, factor), count, span))
  if redis.call('SISMEMBER', bucket, trace) == 0 then
    return nil
  end
  local looked_ms = tonumber(ARGV[4])
  local since_ms = looked_ms and now_ms - looked_ms
  return not (since_ms and since_ms >= 0 and since_ms < WORD_MS) and 'GONE' or nil
end

return known
