#!lua flags=no-writes
-- read_balances: reads a wallet's collateral and tokens, as one consistent view.
--
-- KEYS     1 {x}:bal   2 {x}:w:<address>
-- ARGV     1 shard prefix `{x}:`   2 address (20 bytes)
-- Returns  { cash, { market, tokens }... }: packed as in lib/ledger; cash is empty for an unknown wallet
-- Bound    the markets in which the wallet holds tokens

local shard, address = ARGV[1], ARGV[2]

local reply = { redis.call('HGET', KEYS[1], address) or '' }
local markets = redis.call('SMEMBERS', KEYS[2])
for i = 1, #markets do
  local tokens = redis.call('HGET', shard .. 'm:' .. markets[i] .. ':bal', address)
  if tokens then
    reply[#reply + 1] = { markets[i], tokens }
  end
end
return reply
