#!lua
-- edit_profile: sets or clears parts of a wallet's profile. A username belongs to one wallet, in any case of its letters. A
-- username that a wallet gives up is free at once.
--
-- {x}:p:<address>  hash: `u` username, `b` bio, `a` URL of the avatar, `j` time of the wallet's first sign-in (ms)
-- {x}:pn           hash: username in lower case -> address (20 bytes)
-- {x}:talk         string: counts the changes of profiles and comments; a cached answer is valid while the count is the same
--
-- KEYS     1 {x}:p:<address>   2 {x}:pn   3 {x}:talk
-- ARGV     1 address (20 bytes)   then for each part that changes: its field and its value, empty to clear it
-- Returns  OK or USERNAME_TAKEN
-- Emits    nothing
-- Bound    one profile

local profile, names, address = KEYS[1], KEYS[2], ARGV[1]

local changes = {}
for i = 2, #ARGV, 2 do
  changes[ARGV[i]] = ARGV[i + 1]
end
local name = changes.u
if name then
  local owner = name ~= '' and redis.call('HGET', names, name:lower())
  if owner and owner ~= address then
    return 'USERNAME_TAKEN'
  end
  local before = redis.call('HGET', profile, 'u')
  if before and before:lower() ~= name:lower() then
    redis.call('HDEL', names, before:lower())
  end
  if name ~= '' then
    redis.call('HSET', names, name:lower(), address)
  end
end
for field, value in pairs(changes) do
  if value == '' then
    redis.call('HDEL', profile, field)
  else
    redis.call('HSET', profile, field, value)
  end
end
redis.call('INCR', KEYS[3])
return 'OK'
