-- Archived matches of a market, which Redis has deleted: all up to a place in the market's stream, and their sums.
--
-- {x}:m:<id>   hash: `f` the place of the last archived match (ms I6, sequence I6), the number of archived matches I6, their
--              volume I7 and fees in collateral, Yes and No I7 each (micro-units; a sum stops at the largest exact number), and
--              the price of Yes in the last of them I2 (pips); absent without one

local archived_matches = {}

archived_matches.FIELD, archived_matches.FORMAT = 'f', '>I6I6I6I7I7I7I7I2'
-- The place of a match in the stream of its market: milliseconds, sequence.
archived_matches.PLACE = '>I6I6'

-- Whether one place in a stream of matches is before another.
function archived_matches.is_before(ms, sequence, other_ms, other_sequence)
  return ms < other_ms or ms == other_ms and sequence < other_sequence
end

-- Returns the sums of the market whose hash is under `key`, as a table; the fees in it are numbered 1 collateral, 2 Yes, 3 No.
function archived_matches.read(key)
  local packed = redis.call('HGET', key, archived_matches.FIELD)
  if not packed then
    return { ms = 0, sequence = 0, matches = 0, volume = 0, 0, 0, 0, last = 0 }
  end
  local ms, sequence, matches, volume, cash, yes, no, last = struct.unpack(archived_matches.FORMAT, packed)
  return { ms = ms, sequence = sequence, matches = matches, volume = volume, cash, yes, no, last = last }
end

function archived_matches.write(key, sums)
  redis.call('HSET', key, archived_matches.FIELD, struct.pack(archived_matches.FORMAT, sums.ms, sums.sequence, sums.matches,
    sums.volume, sums[1], sums[2], sums[3], sums.last))
end

return archived_matches
