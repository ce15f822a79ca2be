#!lua
-- add_key: one more API key of a wallet, unless it has as many as it may.
--
-- {k:<address>}  hash: id of a key -> what is known of it, as JSON (src/store/people/api-keys.ts); never the key itself
--
-- KEYS     1 {k:<address>}
-- ARGV     1 id   2 what is known of the key   3 how many keys a wallet may have   4... ids of keys that have expired
-- Returns  1, or 0 when there are too many
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
