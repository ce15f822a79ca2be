#!lua flags=allow-oom
-- release_lease: releases a lease of reading the outbox, so that another process need not wait until it expires.
--
-- KEYS     1 {x}:lease or {x}:relay or {x}:arl or {x}:obl
-- ARGV     1 token
-- Returns  1 when the token held it, else 0
-- Emits    nothing
-- Bound    one lease

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1])
return 1
