-- Traces of orders whose records have left Redis: what is left of them is enough to know that their hash was booked. An order
-- leaves one only while no rule of place_order refuses it anyway (lua/forget_orders.lua).
--
-- {x}:m:<id>        hash: `g` the number of buckets and of traces (FORMAT); absent while the market has none
-- {x}:m:<id>:g<n>   set of the traces of one bucket, from 0; of whole numbers and so few that Redis keeps 8 bytes for each
--
-- A trace is the first 64 bits of an order hash, read as a signed number, because Redis keeps small sets of such numbers. Lua has
-- no numbers of 64 bits, so a trace is decimal text. Two hashes may share one, so a trace that is found proves nothing by itself:
-- the caller asks the archive for the hash. Buckets grow one at a time, by linear hashing: a bucket that is split gives half of
-- its traces to the new last one.

local integer = require('lib.integer')

local traces = {}

traces.FIELD, traces.FORMAT = 'g', '>I4I6'
-- A set of more than 512 numbers takes 31 bytes for each. On average no bucket has more than twice these.
traces.PER_BUCKET = 200
-- How long the caller's word that the archive does not have a hash is good. An order stays in Redis for longer after its end.
local WORD_MS = 30000

local HALF, LIMB, DECIMAL, DIGITS = 4294967296, 65536, 1000000000, 9

-- The trace of a hash. The number is divided by 10^9 in two steps, each of which is exact in doubles.
function traces.of(hash)
  local high, low = struct.unpack('>i4I4', hash)
  local sign = ''
  if high < 0 then
    sign, high = '-', -high
    if low > 0 then
      high, low = high - 1, HALF - low
    end
  end
  local top = high * LIMB + (low - low % LIMB) / LIMB
  local bottom = top % DECIMAL * LIMB + low % LIMB
  local whole, rest = (top - top % DECIMAL) / DECIMAL * LIMB + (bottom - bottom % DECIMAL) / DECIMAL, bottom % DECIMAL
  return whole > 0 and string.format('%s%d%09d', sign, whole, rest) or sign .. integer.text(rest)
end

-- The bucket of a trace among so many, by its last digits. The buckets below `half` were there before the last doubling; those
-- above `count` are not there yet.
function traces.bucket(trace, count)
  local half = 1
  while half * 2 <= count do
    half = half * 2
  end
  local place = math.abs(tonumber(trace:sub(-DIGITS))) % (half * 2)
  return integer.text(place < count and place or place - half)
end

-- True when the market, whose hash is under `key` and has `packed` in its field, has the trace of an order, and the caller has not
-- said otherwise. It says so by the argument behind the `given` ones of the script: the time at which another call of it met the
-- trace of this order, and the archive did not have the order then.
function traces.stops(key, packed, hash, now_ms, given)
  local trace = traces.of(hash)
  local place = traces.bucket(trace, (struct.unpack(traces.FORMAT, packed)))
  if redis.call('SISMEMBER', key .. ':g' .. place, trace) == 0 then
    return false
  end
  local looked_ms = tonumber(ARGV[given + 1] or 'nan')
  return not (now_ms >= looked_ms and now_ms < looked_ms + WORD_MS)
end

return traces
