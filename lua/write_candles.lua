#!lua
-- write_candles: writes candles counted from matches into a market's series and moves its mark, both or neither. It writes only
-- if the mark is the one that the caller read, and on the run of Redis from which the caller read it. So no match is counted
-- twice, and no match that a failover lost is counted.
--
-- KEYS     1 {x}:km   2... {x}:m:<id>:k<sec>, the series (lua/read_candles.lua); then the door
-- ARGV     1 market id   2 the mark read, empty for none   3 the new mark   4 the run of Redis it was read from (read_run)
--          5... for each series: the offset in bytes from which it is rewritten, and the candles from there to its end;
--          offset 0 replaces the whole series
-- Returns  1, or 0 when the caller must read again
-- Emits    nothing
-- Bound    what the caller sends: the candles of some hundred matches, or all of a market in a rebuild (a year of minutes is
--          17 MB and blocks Redis for about 40 ms)

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
