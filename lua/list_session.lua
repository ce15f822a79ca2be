#!lua flags=allow-oom
-- list_session: lists a session among those of its wallet until it expires, and takes those off that have expired.
--
-- KEYS     1 {s:<address>}
-- ARGV     1 id of the session   2 the present time in milliseconds   3 lifetime in milliseconds
-- Returns  the number of sessions listed
-- Emits    nothing
-- Bound    the sessions of one wallet

local integer = require('lib.integer')

redis.call('ZADD', KEYS[1], integer.text(tonumber(ARGV[2]) + tonumber(ARGV[3])), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '0', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return redis.call('ZCARD', KEYS[1])
