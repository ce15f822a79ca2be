#!lua flags=allow-oom
-- open_session: starts a sign-in session, at its first pair of tokens.
--
-- KEYS     1 {s:<sid>}
-- ARGV     1 lifetime in milliseconds
-- Returns  the present time in milliseconds, at which the first pair is issued
-- Emits    nothing
-- Bound    one session

local outbox = require('lib.outbox')

redis.call('HSET', KEYS[1], 'n', '1')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return outbox.now_ms()
