#!lua flags=allow-oom
-- hold_lease: takes a free lease of reading the outbox; or renews the token's own lease and stores its reader's position, unless a
-- later one is stored: a renewal that began before a step of its holder may come after it.
--
-- KEYS     1 {x}:lease or {x}:relay or {x}:arl or {x}:obl   2 {x}:readers
-- ARGV     1 token   2 lifetime of the lease from now, milliseconds   3 name of the reader   4 id of the last outbox entry
--          that the reader has processed; empty to take the lease
-- Returns  1 when the token now holds the lease; 0 when another token holds it, or when ARGV 4 has a position and no token holds
--          the lease: nothing changed
-- Emits    nothing
-- Bound    one lease

-- Whether entry id `a` is before `b`; both are `<ms>-<n>`, below 2^53.
local function is_before(a, b)
  local a_ms, a_n = a:match('^(%d+)-(%d+)$')
  local b_ms, b_n = b:match('^(%d+)-(%d+)$')
  a_ms, b_ms = tonumber(a_ms), tonumber(b_ms)
  return a_ms < b_ms or a_ms == b_ms and tonumber(a_n) < tonumber(b_n)
end

local holder, position = redis.call('GET', KEYS[1]), ARGV[4]
if holder and holder ~= ARGV[1] or position ~= '' and not holder then
  return 0
end
local stored = position ~= '' and redis.call('HGET', KEYS[2], ARGV[3])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
if position ~= '' and not (stored and is_before(position, stored)) then
  redis.call('HSET', KEYS[2], ARGV[3], position)
end
return 1
