#!lua flags=no-writes
-- read_purse: reads a wallet's collateral in this shard, and what it sent from here and got here, at one moment.
--
-- KEYS     1 {x}:bal   2 {x}:net
-- ARGV     1 address (20 bytes)
-- Returns  { cash, net }: packed as in lib/ledger and lib/channel, empty when there is none
-- Bound    one wallet

return { redis.call('HGET', KEYS[1], ARGV[1]) or '', redis.call('HGET', KEYS[2], ARGV[1]) or '' }
