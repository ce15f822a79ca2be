-- Traces of orders whose records have left Redis: what is left of them is enough to know that their hash was booked. An order
-- leaves one only while no rule of place_order refuses it anyway (lua/forget_orders.lua).
--
-- {x}:m:<id>        hash: `g` the number of buckets I4 and of traces I6, and the latest expiration I5 (epoch seconds) of the orders that
--                   left without a trace because they had expired; absent while the market has none of these
-- {x}:m:<id>:g<n>   set of the traces of one bucket, from 0; of whole numbers and so few that Redis keeps 8 bytes for each
--
-- A trace is a number of two parts, one after the other in decimals, of the first 64 bits of an order hash: the first 32 bits and 1,
-- and the others less what is above 10^9. Redis keeps small sets of such numbers; Lua has none of 64 bits, so a trace is text. Two
-- hashes may share one, so a trace that is found proves nothing by itself: the caller asks the archive for the hash. Buckets grow
-- one at a time, by linear hashing: a bucket that is split gives half of its traces to the new last one.

local integer = require('lib.integer')

local traces = {}

traces.FIELD, traces.FORMAT = 'g', '>I4I6I5'
-- A set of more than 512 numbers takes 31 bytes for each. On average no bucket has more than twice these.
traces.PER_BUCKET = 200
-- How long the caller's word that the archive does not have a hash is good. An order stays in Redis for longer after its end.
local WORD_MS = 30000

local DECIMAL, DIGITS = 1000000000, 9

-- The trace of a hash, and its last part.
function traces.of(hash)
  local first, last = struct.unpack('>I4I4', hash)
  last = last % DECIMAL
  return string.format('%d%09d', first + 1, last), last
end

-- The number of buckets at their last doubling: the largest power of two that is not above their number now.
function traces.half(count)
  local half = 1
  while half * 2 <= count do
    half = half * 2
  end
  return half
end

-- The bucket of a trace among so many, by its last part. The buckets from `count` on are not there yet.
function traces.place(last, count, half)
  local place = last % (half * 2)
  return place < count and place or place - half
end

-- The same as text.
function traces.bucket(last, count)
  return integer.text(traces.place(last, count, traces.half(count)))
end

-- The last part of a trace.
function traces.last(trace)
  return tonumber(trace:sub(-DIGITS))
end

-- Why an order cannot be booked in the market whose hash is under `key` and has `packed` in its field; nil when these do not stop it.
--   ORDER_EXPIRED   the clock is behind the one by which an order with this expiration left without a trace, for example because
--                   another Redis took over
--   GONE            the market has the trace of the order, and the caller has not said otherwise. It says so by the argument behind
--                   the `given` ones of the script: the time at which another call of it met the trace of this order, and the
--                   archive did not have the order then.
function traces.objection(key, packed, hash, expiration, now_ms, given)
  local count, total, expired = struct.unpack(traces.FORMAT, packed)
  if expiration > 0 and expiration <= expired and now_ms < expiration * 1000 then
    return 'ORDER_EXPIRED'
  end
  local trace, last = traces.of(hash)
  if total == 0 or redis.call('SISMEMBER', key .. ':g' .. traces.bucket(last, count), trace) == 0 then
    return nil
  end
  local looked_ms = tonumber(ARGV[given + 1] or 'nan')
  return not (now_ms >= looked_ms and now_ms < looked_ms + WORD_MS) and 'GONE' or nil
end

return traces
