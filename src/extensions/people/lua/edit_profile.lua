#!lua flags=allow-oom
-- edit_profile: sets or clears parts of a wallet's profile. A username belongs to one wallet, in any case of its letters. The last
-- username that a wallet gave up stays reserved for it for HELD_MS, so that another wallet cannot pose as its former owner; an
-- earlier one becomes free, and so does one that an operator clears.
--
-- {x}:p:<address>  hash: `u` username, `b` bio, `a` URL of the avatar, `j` time of the wallet's first sign-in (ms),
--                  `g` the username in lower case that it gave up last, `m` 1 while an operator has muted the wallet,
--                  `h` 1 while the wallet hides itself among holders and traders,
--                  `o` 1 while everybody may read its positions and its portfolio
-- {x}:po           sorted set, all scores 0: the wallets with `o` and without `h`, which take part in the leaderboard
-- {x}:pn           hash: username in lower case -> address (20 bytes), then for a name that was given up when it is free, I6 (ms)
-- {x}:talk         string: counts the changes of profiles and comments; a cached answer is valid while the count is the same
--
-- KEYS     1 {x}:p:<address>   2 {x}:pn   3 {x}:talk   4 {x}:po
-- ARGV     1 address (20 bytes)   2 1 for an operator, else 0   then for each part that changes: its field and its value, empty to clear it
-- Returns  OK, USERNAME_TAKEN, or UNAVAILABLE for a new text far above maxmemory (lib/memory): a consent can always be taken back
-- Emits    nothing
-- Bound    one profile

local memory = require('lib.memory')
local outbox = require('lib.outbox')

local HELD_MS = 30 * 24 * 60 * 60 * 1000
local ADDRESS_BYTES = 20

local profile, names, address = KEYS[1], KEYS[2], ARGV[1]

local changes = {}
for i = 3, #ARGV, 2 do
  changes[ARGV[i]] = ARGV[i + 1]
end

local function has_text()
  return (changes.u or '') ~= '' or (changes.b or '') ~= '' or (changes.a or '') ~= ''
end

local function is_taken(name, now)
  local entry = redis.call('HGET', names, name)
  if not entry or entry:sub(1, ADDRESS_BYTES) == address then
    return false
  end
  return #entry == ADDRESS_BYTES or struct.unpack('>I6', entry, ADDRESS_BYTES + 1) > now
end

local function give_up(name, now)
  local former = redis.call('HGET', profile, 'g')
  if former and former ~= name then
    local entry = redis.call('HGET', names, former)
    if entry and #entry > ADDRESS_BYTES and entry:sub(1, ADDRESS_BYTES) == address then
      redis.call('HDEL', names, former)
    end
  end
  redis.call('HSET', names, name, address .. struct.pack('>I6', now + HELD_MS))
  redis.call('HSET', profile, 'g', name)
end

if has_text() and memory.is_exceeded() then
  return 'UNAVAILABLE'
end
if changes.u then
  local name, now = changes.u:lower(), outbox.now_ms()
  if name ~= '' and is_taken(name, now) then
    return 'USERNAME_TAKEN'
  end
  local before = redis.call('HGET', profile, 'u')
  if before and before:lower() ~= name then
    if ARGV[2] == '1' then
      redis.call('HDEL', names, before:lower())
    else
      give_up(before:lower(), now)
    end
  end
  if name ~= '' then
    redis.call('HSET', names, name, address)
  end
end
for field, value in pairs(changes) do
  if value == '' then
    redis.call('HDEL', profile, field)
  else
    redis.call('HSET', profile, field, value)
  end
end
if changes.o or changes.h then
  if redis.call('HGET', profile, 'o') and not redis.call('HGET', profile, 'h') then
    redis.call('ZADD', KEYS[4], '0', address)
  else
    redis.call('ZREM', KEYS[4], address)
  end
end
redis.call('INCR', KEYS[3])
return 'OK'
