#!lua flags=allow-oom
-- rotate_session: exchanges the refresh token of one pair of a session for the next pair. Using the token again returns the
-- same pair (a lost reply) soon after, and later, newly dated, while no token of that pair was used. Otherwise it ends the
-- session, because two parties then hold the token.
--
-- {s:<sid>}  hash: n, the number of the newest pair; `u<number>` -> ms at which the pair after it was issued,
--            kept while it can be replayed; noted, the highest number of a pair whose access token was used
--            (note_pair); over, when a reuse ended the session
--
-- KEYS     1 {s:<sid>}
-- ARGV     1 number of the pair presented   2 lifetime of the session from now, milliseconds
--          3 milliseconds for which a use can be repeated
-- Returns  { code, number, atMs }: ROTATED or REPLAYED with the pair to sign and its time; GONE or REUSED with zeros
-- Emits    nothing
-- Bound    REPLAYS_MAX uses are remembered

local integer = require('lib.integer')
local outbox = require('lib.outbox')

local GONE, ROTATED, REPLAYED, REUSED = 0, 1, 2, 3
local REPLAYS_MAX = 32

local session, presented, grace = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[3])
local now = outbox.now_ms()

-- Deletes the uses that can no longer be repeated.
local function forget(newest)
  local fields = redis.call('HKEYS', session)
  for i = 1, #fields do
    local number = tonumber(fields[i]:match('^u(%d+)$'))
    if number then
      local used = tonumber(redis.call('HGET', session, fields[i]))
      if now - used > grace or number <= newest - REPLAYS_MAX then
        redis.call('HDEL', session, fields[i])
      end
    end
  end
end

local state = redis.call('HMGET', session, 'n', 'over', 'u' .. integer.text(presented), 'noted')
local newest, over, used, noted = tonumber(state[1]), state[2], tonumber(state[3]), tonumber(state[4] or 1)

if not newest or presented > newest then
  return { GONE, 0, 0 }
end
if over then
  return { presented == newest and GONE or REUSED, 0, 0 }
end
if presented == newest then
  forget(newest)
  redis.call('HSET', session, 'n', integer.text(newest + 1), 'u' .. integer.text(newest), integer.text(now))
  redis.call('PEXPIRE', session, ARGV[2])
  return { ROTATED, newest + 1, now }
end
if used and now - used <= grace then
  return { REPLAYED, presented + 1, used }
end
-- Neither token of the newest pair was ever used, so the client does not have it: issue it again, with a new date.
if used and presented == newest - 1 and noted < newest then
  redis.call('HSET', session, 'u' .. integer.text(presented), integer.text(now))
  redis.call('PEXPIRE', session, ARGV[2])
  return { REPLAYED, newest, now }
end
redis.call('HSET', session, 'over', '1')
return { REUSED, 0, 0 }
