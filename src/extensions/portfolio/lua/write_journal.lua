#!lua flags=allow-oom
-- write_journal: books the effects of outbox entries on wallets: their positions, the holders of each outcome (lib/holders), their
-- journals and the mark of the last entry booked, all or nothing. It writes only if the mark is the one that the caller read, on
-- the run of Redis from which the caller read it, and if no position was corrected meanwhile (rebuild_journal). So each
-- entry is booked once, also when processes crash or work at once, and no entry that a failover lost is booked. It runs while
-- memory is out, because the outbox is only trimmed behind its mark.
--
-- {x}:sum   hash: `holders`, 1 when every position is among the holders: the journal has written them from the first entry on, or
--           every wallet has been rebuilt since
--
-- KEYS     1 {x}:readers   2 {x}:sum; and the positions {x}:ps:<address> and journals {x}:ac:<address> of the wallets, and the
--          holders of their markets, all in this slot
-- ARGV     1 shard prefix `{x}:`   2 name of the reader   3 the mark read   4 the new mark: the last entry booked
--          5 the run of Redis it was read from (read_run)   6 `rebuilt` as it was read, empty for none
--          7 number of positions, then for each: address, market, positions (src/extensions/portfolio/store/records.ts)
--          then for each entry of a journal: address, entry
-- Returns  1, or 0 when the caller must read again
-- Emits    nothing
-- Bound    what the caller sends: some thousand fills

local history = require('lib.history')
local holders = require('lib.holders')

local shard, positions, at = ARGV[1], tonumber(ARGV[7]), 8

if redis.call('HGET', KEYS[1], ARGV[2]) ~= ARGV[3] then
  return 0
end
if history.name() ~= ARGV[5] or (redis.call('HGET', KEYS[2], 'rebuilt') or '') ~= ARGV[6] then
  return 0
end
if ARGV[3] == '0-0' then
  redis.call('HSET', KEYS[2], 'holders', '1')
end
for _ = 1, positions do
  redis.call('HSET', shard .. 'ps:' .. ARGV[at], ARGV[at + 1], ARGV[at + 2])
  holders.note(shard, ARGV[at + 1], ARGV[at], ARGV[at + 2])
  at = at + 3
end
for i = at, #ARGV, 2 do
  redis.call('RPUSH', shard .. 'ac:' .. ARGV[i], ARGV[i + 1])
end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[4])
return 1
