-- Whether an order was booked before, although its record is not in Redis: it may be archived.

local traces = require('lib.traces')

local known = {}

-- How long the caller may rely on the archive not having a hash. It is shorter than an order stays in Redis after its end.
local ABSENT_MS = 30000

-- Returns the code that refuses the order of place_order or replace_order in a market with the packed field of traces; nil for none.
--   ORDER_EXPIRED   the clock is behind the one by which an order with this expiration was archived without a trace, for example
--                   because another Redis took over
--   TRACED          the market has the trace of the order, which may be that of another one: the caller must look the order up in
--                   the archive. When it is not there, ARGV[4] has the time of the reply that named the trace.
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
  local absent_ms = tonumber(ARGV[4])
  local is_absent = absent_ms and now_ms >= absent_ms and now_ms < absent_ms + ABSENT_MS
  return not is_absent and 'TRACED' or nil
end

return known
