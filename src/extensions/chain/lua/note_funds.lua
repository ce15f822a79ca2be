#!lua flags=allow-oom
-- note_funds: notes once that the funds of this data are on a chain, and on which.
--
-- {x}:funds   hash: `chain` the id of the chain, `exchange` the address of the contract that settles, `hold` how it takes the
--             collateral of a taker: `cost` or `limit` (lib/ledger); absent with paper funds
--
-- KEYS     1 {x}:funds   2 {x}:bal   3 {x}:mk   4 {x}:layout
-- ARGV     1 id of the chain   2 address of the contract   3 `cost` or `limit`
--          4 the oldest layout whose programs know funds on a chain (lua/note_layout.lua)
-- Returns  { chain, exchange, hold } as noted; three empty texts, and nothing changed, when the data has paper funds
-- Emits    nothing
-- Bound    two hashes

local noted = redis.call('HMGET', KEYS[1], 'chain', 'exchange', 'hold')
if noted[1] then
  return noted
elseif redis.call('EXISTS', KEYS[2], KEYS[3]) > 0 then
  return { '', '', '' }
end
local oldest = math.max(tonumber(redis.call('HGET', KEYS[4], 'oldest') or '1'), tonumber(ARGV[4]))
redis.call('HSET', KEYS[4], 'oldest', string.format('%d', oldest))
redis.call('HSET', KEYS[1], 'chain', ARGV[1], 'exchange', ARGV[2], 'hold', ARGV[3])
return { ARGV[1], ARGV[2], ARGV[3] }
