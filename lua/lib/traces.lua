-- Traces of orders whose records have left Redis: what is left of them is enough to know that their hash was booked. An order
-- leaves one only while no rule of place_order refuses it anyway (src/extensions/archive/lua/forget_orders.lua).
--
-- {x}:m:<id>        hash: `g` the number of buckets I4, the least power of two above it I4, the factor I3, the latest expiration I5
--                   (epoch seconds) of the orders that left without a trace because they had expired, and the number of traces
--                   I6; absent while the market has none of these
-- {x}:m:<id>:g<n>   set of the traces of one bucket, from 0 (I3); of whole numbers and so few that Redis keeps 8 bytes for each
--
-- A trace is a number of two parts, one after the other in decimals, of the first 64 bits of an order hash: the first 32 bits and 1,
-- and the others less what is above 10^9. Redis keeps small sets of such numbers; Lua has none of 64 bits, so a trace is text. Two
-- hashes may share one, so a trace that is found proves nothing by itself: the caller asks the archive for the hash.
--
-- The bucket of a trace follows from its last part times the factor, a secret of the market. So only hashes with nearly the same last
-- part are known to share a bucket. Buckets grow one at a time, by linear hashing: a bucket that is split gives half of its traces to
-- the new last one.

local traces = {}

traces.FIELD, traces.FORMAT = 'g', '>I4I4I3I5I6'
-- A set of more than 512 numbers takes 31 bytes for each. On average no bucket has more than twice these.
traces.PER_BUCKET = 200

-- The last part has 9 digits; the prime is above all of them. Times a factor of 20 bits they are exact.
local DECIMAL, DIGITS, PRIME, LEFT_OUT = 1000000000, 9, 1000000007, 1024

-- The trace of a hash, and its last part.
function traces.of(hash)
  local first, last = struct.unpack('>I4I4', hash)
  last = last % DECIMAL
  return string.format('%d%09d', first + 1, last), last
end

-- The last part of a trace.
function traces.last(trace)
  return tonumber(trace:sub(-DIGITS))
end

-- The number that chooses the bucket of a trace, by its last part. The digits below are left out: of a small multiple of a power of
-- two they are those of such a multiple, whatever the factor is.
function traces.number(last, factor)
  return math.floor(last * factor % PRIME / LEFT_OUT)
end

-- The bucket of such a number. The buckets below half of `span` were there before the last doubling; those from `count` on are
-- not there yet.
function traces.place(number, count, span)
  return number % span < count and number % span or number % (span / 2)
end

-- The key of a bucket of the market whose hash is under `key`.
function traces.key(key, place)
  return key .. ':g' .. struct.pack('>I3', place)
end

-- The least power of two above a number of buckets.
function traces.span(count)
  local span = 1
  while span <= count do
    span = span * 2
  end
  return span
end

function traces.pack(count, total, expired, factor)
  return struct.pack(traces.FORMAT, count, traces.span(count), factor, expired, total)
end

return traces
