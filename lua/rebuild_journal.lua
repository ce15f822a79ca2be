#!lua
-- rebuild_journal: puts a wallet's journal and positions right, if nothing was booked for it since they were read, on
-- the Redis on which they were read. A process that writes the journal at the same time starts again (write_journal).
--
-- {x}:sum   hash: `rebuilt`, how often this was done
--
-- KEYS     1 {x}:sum   2 {x}:ac:<address>, the journal   3 {x}:ps:<address>, the positions
--          4 {x}:ac:<address><id>, the journal to take its place
-- ARGV     1 the run of Redis it was read from (read_run)   2 how often positions had been put right, empty for never
--          3 entries the journal had   4 1 when it is replaced, else 0   5... market, positions of every market
-- Returns  1, or 0 when it is to be read again
-- Emits    nothing
-- Bound    the markets of one wallet

local history = require('lib.history')

if history.name() ~= ARGV[1] or (redis.call('HGET', KEYS[1], 'rebuilt') or '') ~= ARGV[2]
  or redis.call('LLEN', KEYS[2]) ~= tonumber(ARGV[3]) then
  return 0
end
if ARGV[4] == '1' and redis.call('EXISTS', KEYS[4]) == 0 then
  return 0
end
if ARGV[4] == '1' then
  redis.call('RENAME', KEYS[4], KEYS[2])
  redis.call('PERSIST', KEYS[2])
end
redis.call('DEL', KEYS[3])
for i = 5, #ARGV, 2 do
  redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
end
redis.call('HINCRBY', KEYS[1], 'rebuilt', '1')
return 1
