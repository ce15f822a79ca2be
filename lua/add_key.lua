#!lua
-- add_key: stores an API key of a wallet, unless the wallet has as many keys as it may have.
--
-- {k:<address>}  hash: id of a key -> its description as JSON (src/store/people/api-keys.ts), which never contains the key itself
--
-- KEYS     1 {k:<address>}
-- ARGV     1 id   2 description of the key   3 the most keys a wallet may have   4... ids of keys that have expired
-- Returns  1, or 0 when the wallet has too many keys
-- Emits    nothing
-- Bound    the keys of one wallet

if #ARGV > 3 then
  redis.call('HDEL', KEYS[1], unpack(ARGV, 4))
end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
