#!lua flags=allow-oom
-- note_pair: notes that the access token of a pair was used, so the client has that pair and the refresh token before it is
-- superseded (rotate_session).
--
-- KEYS     1 {s:<sid>}
-- ARGV     1 number of the pair
-- Returns  1 when this is the first use of a pair of a session that exists, else 0
-- Emits    nothing
-- Bound    one session

local integer = require('lib.integer')

local session, number = KEYS[1], tonumber(ARGV[1])
local state = redis.call('HMGET', session, 'n', 'noted')
local newest, noted = tonumber(state[1]), tonumber(state[2] or 1)

if not newest or number > newest or number <= noted then
  return 0
end
redis.call('HSET', session, 'noted', integer.text(number))
return 1
