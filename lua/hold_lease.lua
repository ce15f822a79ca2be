#!lua flags=allow-oom
-- hold_lease: takes a free lease of reading the outbox; or renews the token's own lease and stores its reader's position.
--
-- KEYS     1 {x}:lease or {x}:relay or {x}:arl or {x}:obl   2 {x}:readers
-- ARGV     1 token   2 lifetime of the lease from now, milliseconds   3 name of the reader   4 id of the last outbox entry
--          that the reader has processed; empty to take the lease
-- Returns  1 when the token now holds the lease; 0 when another token holds it, or when ARGV 4 has a position and no token holds
--          the lease: nothing changed
-- Emits    nothing
-- Bound    one lease

local holder, position = redis.call('GET', KEYS[1]), ARGV[4]
if holder and holder ~= ARGV[1] or position ~= '' and not holder then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
if position ~= '' then
  redis.call('HSET', KEYS[2], ARGV[3], position)
end
return 1
