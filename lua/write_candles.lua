#!lua
-- write_candles: writes candles counted from matches into a market's series and moves its mark, both or neither, and
-- only if the mark is still the one the caller has seen, on the Redis on which it was seen: so no match is counted
-- twice, and none that a failover has lost.
--
-- KEYS     1 {x}:km   2... {x}:m:<id>:k<sec>, the series (lua/read_candles.lua); then the door
-- ARGV     1 market id   2 the mark seen, empty for none   3 the mark now   4 the run of Redis it was read from (read_run)
--          5... for each series: the offset in bytes from which it is rewritten, and the candles from there to its end;
--          offset 0 replaces the whole series
-- Returns  1, or 0 when it is to be read again
-- Emits    nothing
-- Bound    what the caller sends: some hundred matches' candles, or all of a market in a rebuild (a year of minutes is
--          17 MB and holds Redis for some 40 ms)

local history = require('lib.history')

if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] or history.name() ~= ARGV[4] then
  return 0
end
for i = 2, #KEYS - 1 do
  if ARGV[2 * i + 1] == '0' then
    redis.call('DEL', KEYS[i])
  end
  redis.call('SETRANGE', KEYS[i], ARGV[2 * i + 1], ARGV[2 * i + 2])
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
