#!lua flags=allow-oom
-- open_session: starts a sign-in session, at its first pair of tokens.
--
-- KEYS     1 {s:<sid>}
-- ARGV     1 lifetime in milliseconds
-- Returns  now, in milliseconds: the time the first pair is dated
-- Emits    nothing
-- Bound    one session

local outbox = require('lib.outbox')

redis.call('HSET', KEYS[1], 'n', '1')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return outbox.now_ms()
