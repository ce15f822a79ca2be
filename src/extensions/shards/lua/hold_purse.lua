#!lua
-- hold_purse: takes or extends the hold of a wallet's purse at its home, so that no other gatherer moves its collateral meanwhile,
-- and notes the shard that needs collateral. A hold that runs out costs fairness between two orders of the wallet, never money.
-- With OK it has always written: the caller waits for its replicas, and these tell nothing of a bit that another caller has set.
--
-- KEYS     1 {x}:ph:<address>   2 {x}:pu   3 {x}:bal
-- ARGV     1 address (20 bytes)   2 token of the hold; empty to note the shard alone   3 lifetime of the hold, milliseconds
--          4 number of the shard
-- Returns  { code, nowMs, ... }: OK, the bitmap of the wallet's shards, its account here and what it sent and got, packed as in lib/ledger
--          and lib/channel, each empty when there is none; BUSY, when another token holds the purse
-- Emits    nothing
-- Bound    one wallet

local channel = require('lib.channel')
local integer = require('lib.integer')
local outbox = require('lib.outbox')

local now_text = integer.text(outbox.now_ms())
if ARGV[2] ~= '' then
  local holder = redis.call('GET', KEYS[1])
  if holder and holder ~= ARGV[2] then
    return { 'BUSY', now_text }
  end
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
local found = redis.call('HMGET', KEYS[3], ARGV[1], channel.net_field(ARGV[1]))
local bitmap, is_new = channel.note_shard(KEYS[2], ARGV[1], tonumber(ARGV[4]))
if ARGV[2] == '' and not is_new then
  redis.call('HSET', KEYS[2], ARGV[1], bitmap)
end
return { 'OK', now_text, bitmap, found[1] or '', found[2] or '' }
