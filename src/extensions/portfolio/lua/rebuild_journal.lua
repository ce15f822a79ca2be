#!lua
-- rebuild_journal: corrects a wallet's journal, its positions and its places among the holders (lib/holders), if no entry was
-- booked for the wallet since they were read, and on the run of Redis from which they were read. A process that
-- writes the journal meanwhile starts again (write_journal).
--
-- {x}:sum   hash: `rebuilt`, the number of corrections
--
-- KEYS     1 {x}:sum   2 {x}:ac:<address>, the journal   3 {x}:ps:<address>, the positions
--          4 {x}:ac:<address><id>, the journal that replaces it   5 {x}:fo (lib/archive); and the holders of its markets,
--          all in this slot
-- ARGV     1 the run of Redis it was read from (read_run)   2 `rebuilt` as it was read, empty for none
--          3 number of entries that the journal had   4 1 when it is replaced, 2 when it is emptied, else 0   5 the wallet's address
--          6 number of its lines that had left for the archive   7 shard prefix `{x}:`
--          8... market, positions of every market
-- Returns  1, or 0 when the caller must read again
-- Emits    nothing
-- Bound    the markets of one wallet

local archive = require('lib.archive')
local history = require('lib.history')
local holders = require('lib.holders')

if history.name() ~= ARGV[1] or (redis.call('HGET', KEYS[1], 'rebuilt') or '') ~= ARGV[2]
  or redis.call('LLEN', KEYS[2]) ~= tonumber(ARGV[3]) then
  return 0
end
-- Lines that leave for the archive meanwhile could make up for lines that are added.
local _, _, lines = archive.of_wallet(KEYS[5], ARGV[5])
if lines ~= tonumber(ARGV[6]) then
  return 0
end
if ARGV[4] == '1' and redis.call('EXISTS', KEYS[4]) == 0 then
  return 0
end
if ARGV[4] == '1' then
  redis.call('RENAME', KEYS[4], KEYS[2])
  redis.call('PERSIST', KEYS[2])
elseif ARGV[4] == '2' then
  redis.call('DEL', KEYS[2])
end
local before = redis.call('HKEYS', KEYS[3])
for i = 1, #before do
  holders.note(ARGV[7], before[i], ARGV[5], nil)
end
redis.call('DEL', KEYS[3])
for i = 8, #ARGV, 2 do
  redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
  holders.note(ARGV[7], ARGV[i], ARGV[5], ARGV[i + 1])
end
redis.call('HINCRBY', KEYS[1], 'rebuilt', '1')
return 1
