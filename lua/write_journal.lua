#!lua
-- write_journal: books what stretches of the outbox did to wallets: their positions and their journals, and how far
-- that is, all of it or nothing, and only if the mark still is the one the caller has seen, on the Redis on which it
-- was seen, and no position was put right meanwhile (rebuild_journal). So every entry of the outbox is recorded once,
-- and nothing that a failover has lost, also when processes crash or work at once.
--
-- KEYS     1 {x}:readers   2 {x}:sum; and the positions {x}:ps:<address> and journals {x}:ac:<address> of the wallets, all in this slot
-- ARGV     1 shard prefix `{x}:`   2 name of the reader   3 the mark seen   4 the mark now: the last entry booked
--          5 the run of Redis it was read from (read_run)   6 how often positions had been put right, empty for never
--          7 how many positions, then for each: address, market, positions (src/store/records/position.ts)
--          then for each entry of a journal: address, entry
-- Returns  1, or 0 when it is to be read again
-- Emits    nothing
-- Bound    what the caller sends: some thousand fills

local history = require('lib.history')

local shard, positions, at = ARGV[1], tonumber(ARGV[7]), 8

if redis.call('HGET', KEYS[1], ARGV[2]) ~= ARGV[3] then
  return 0
end
if history.name() ~= ARGV[5] or (redis.call('HGET', KEYS[2], 'rebuilt') or '') ~= ARGV[6] then
  return 0
end
for _ = 1, positions do
  redis.call('HSET', shard .. 'ps:' .. ARGV[at], ARGV[at + 1], ARGV[at + 2])
  at = at + 3
end
for i = at, #ARGV, 2 do
  redis.call('RPUSH', shard .. 'ac:' .. ARGV[i], ARGV[i + 1])
end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[4])
return 1
