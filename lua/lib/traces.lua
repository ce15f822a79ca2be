-- Traces of orders whose records have left Redis: what is left of them is enough to know that their hash was booked. An order
-- leaves one only while no rule of place_order refuses it anyway (lua/forget_orders.lua).
--
-- {x}:m:<id>        hash: `g` the number of buckets I4, the least power of two above it I4, the factor I3, the latest expiration I5
--                   (epoch seconds) of the orders that left without a trace because they had expired, and the number of traces
--                   I6, then the stamp, 8 bytes; absent while the market has none of these
-- {x}:m:<id>:g<n>   set of the traces of one bucket, from 0 (I3); of whole numbers and so few that Redis keeps 8 bytes for each
--
-- {x}:m:<id>:lt     stream: the latest changes of these, an entry for each, for LATEST_MS (traces.note)
--
-- The stamp is a digest of the field before, of random bytes of the caller, and of the orders whose traces came. So a field with a
-- stamp stands for one set of traces: two histories of a market, for example before and after another Redis took over, never have
-- the same one. Programs before layout 7 leave it out.
--
-- A trace is a number of two parts, one after the other in decimals, of the first 64 bits of an order hash: the first 32 bits and 1,
-- and the others less what is above 10^9. Redis keeps small sets of such numbers; Lua has none of 64 bits, so a trace is text. Two
-- hashes may share one, so a trace that is found proves nothing by itself: the caller asks the archive for the hash.
--
-- The bucket of a trace follows from its last part times the factor, a secret of the market. So only hashes with nearly the same last
-- part are known to share a bucket. Buckets grow one at a time, by linear hashing: a bucket that is split gives half of its traces to
-- the new last one.
--
-- Markets that had traces before there was a factor keep the older form: the number of buckets I4, of traces I6, and the
-- expiration I5; the factor is 1, <n> is text, and there is no stamp.

local integer = require('lib.integer')

local traces = {}

traces.FIELD, traces.FORMAT = 'g', '>I4I4I3I5I6'
local OLDER, OLDER_FACTOR, BYTES, EXPIRED_AT = '>I4I6I5', 1, 22, 12
-- A process that follows a market asks a few times a second (src/store/archive/trace-claims.ts). The entries are so many, or up to
-- a hundred more, because Redis cuts off whole nodes of a stream.
local LATEST_MS, LATEST_MAX, HEAD_BYTES = '60000', '100', 8
-- A set of more than 512 numbers takes 31 bytes for each. On average no bucket has more than twice these.
traces.PER_BUCKET = 200

-- The last part has 9 digits; the prime is above all of them. Times a factor of 20 bits they are exact.
local DECIMAL, DIGITS, PRIME, LEFT_OUT = 1000000000, 9, 1000000007, 1024

-- The trace of a hash, and its last part. place_order gets both from its caller, which needs less time for them
-- (src/store/records/trace.ts).
function traces.of(hash)
  local first, last = struct.unpack('>I4I4', hash)
  last = last % DECIMAL
  return string.format('%d%09d', first + 1, last), last
end

-- The last part of a trace.
function traces.last(trace)
  return tonumber(trace:sub(-DIGITS))
end

-- place_order needs the next five for each order of a market with traces. Each is one expression, so the bundler writes it into
-- its calls.

-- The number of buckets, the power of two, and the factor. A field of the older form has other numbers there.
function traces.head(packed)
  return struct.unpack('>I4I4I3', packed)
end

-- The number that chooses the bucket of a trace, by its last part, with a fraction that `key` cuts off. The digits below are left out:
-- of a small multiple of a power of two they are those of such a multiple, whatever the factor is.
function traces.number(last, factor)
  return last * factor % PRIME / LEFT_OUT
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

-- Whether the field has the older form, or may refuse an order with this expiration.
function traces.is_special(packed, expiration)
  return #packed < BYTES or expiration > 0 and expiration <= struct.unpack('>I5', packed, EXPIRED_AT)
end

-- The number of buckets and of traces, the expiration, and the factor, of either form.
function traces.open(packed)
  if #packed < BYTES then
    local count, total, expired = struct.unpack(OLDER, packed)
    return count, total, expired, OLDER_FACTOR
  end
  local count, _, factor, expired, total = struct.unpack(traces.FORMAT, packed)
  return count, total, expired, factor
end

-- The same without a fraction, of either form.
function traces.whole(last, factor)
  return factor == OLDER_FACTOR and last or math.floor(traces.number(last, factor))
end

-- The least power of two above a number of buckets.
function traces.span(count)
  local span = 1
  while span <= count do
    span = span * 2
  end
  return span
end

-- Without a stamp the field stands for no certain set.
function traces.pack(count, total, expired, factor, stamp)
  if factor == OLDER_FACTOR then
    return struct.pack(OLDER, count, total, expired)
  end
  return struct.pack(traces.FORMAT, count, traces.span(count), factor, expired, total) .. stamp
end

-- The first bytes of a hash, of which its trace is made.
function traces.head_of(hash)
  return hash:sub(1, HEAD_BYTES)
end

-- The stamp behind a change of the field `before`, by which the traces of these heads came.
function traces.stamp(before, random, heads)
  local digest = redis.sha1hex(random .. heads .. before)
  return struct.pack('>I4I4', tonumber(digest:sub(1, 8), 16), tonumber(digest:sub(9, 16), 16))
end

-- Notes a change of the field for those who know the traces before: the field before and after, and the heads of what came.
function traces.note(key, before, after, heads)
  local latest = traces.latest(key)
  redis.call('XADD', latest, 'MAXLEN', '~', LATEST_MAX, '*', 't', struct.pack('>Bc0Bc0', #before, before, #after, after) .. heads)
  redis.call('PEXPIRE', latest, LATEST_MS)
end

function traces.latest(key)
  return key .. ':lt'
end

-- The key of a bucket, of either form.
function traces.bucket(key, place, factor)
  return factor == OLDER_FACTOR and key .. ':g' .. integer.text(place) or traces.key(key, place)
end

return traces
