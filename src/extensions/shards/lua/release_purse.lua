#!lua flags=allow-oom
-- release_purse: gives back the hold of a wallet's purse.
--
-- KEYS     1 {x}:ph:<address>
-- ARGV     1 token
-- Returns  1 when the token held the purse, else 0
-- Emits    nothing
-- Bound    one key

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
