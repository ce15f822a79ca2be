#!lua flags=no-writes
-- read_account: reads a wallet's collateral and tokens in this shard, and what it sent from here and got here, as one consistent
-- view. With one shard read_balances does it.
--
-- KEYS     1 {x}:bal   2 {x}:w:<address>
-- ARGV     1 shard prefix `{x}:`   2 address (20 bytes)
-- Returns  { cash, net, { market, tokens }... }: packed as in lib/ledger and lib/channel; cash and net are empty when there is none
-- Bound    the markets of this shard in which the wallet holds tokens

local channel = require('lib.channel')

local shard, address = ARGV[1], ARGV[2]

local found = redis.call('HMGET', KEYS[1], address, channel.net_field(address))
local reply = { found[1] or '', found[2] or '' }
local markets = redis.call('SMEMBERS', KEYS[2])
for i = 1, #markets do
  local tokens = redis.call('HGET', shard .. 'm:' .. markets[i] .. ':bal', address)
  if tokens then
    reply[#reply + 1] = { markets[i], tokens }
  end
end
return reply
