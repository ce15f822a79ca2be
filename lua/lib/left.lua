-- Matches of a market that have left Redis: all up to a place in the market's stream, and their sums.
--
-- {x}:m:<id>   hash: `f` the place of the last match that left (ms I6, sequence I6), the number of those that left I6, their
--              volume I7 and fees in collateral, Yes and No I7 each (micro-units; a sum stops at the largest exact number), and
--              the price of Yes in the last of them I2 (pips); absent while none has left

local left = {}

left.FIELD, left.FORMAT = 'f', '>I6I6I6I7I7I7I7I2'
-- The place of a match in the stream of its market: milliseconds, sequence.
left.PLACE = '>I6I6'

-- Whether one place in a stream of matches is before another.
function left.is_before(ms, sequence, other_ms, other_sequence)
  return ms < other_ms or ms == other_ms and sequence < other_sequence
end

-- Returns what has left of the market whose hash is under `key`, as a table; the fees in it are numbered 1 collateral, 2 Yes, 3 No.
function left.read(key)
  local packed = redis.call('HGET', key, left.FIELD)
  if not packed then
    return { ms = 0, sequence = 0, matches = 0, volume = 0, 0, 0, 0, last = 0 }
  end
  local ms, sequence, matches, volume, cash, yes, no, last = struct.unpack(left.FORMAT, packed)
  return { ms = ms, sequence = sequence, matches = matches, volume = volume, cash, yes, no, last = last }
end

function left.write(key, sums)
  redis.call('HSET', key, left.FIELD, struct.pack(left.FORMAT, sums.ms, sums.sequence, sums.matches, sums.volume, sums[1],
    sums[2], sums[3], sums.last))
end

return left
