#!lua flags=allow-oom
-- like_comment: sets or removes a wallet's like of a comment. Each wallet counts once, however often it repeats the call.
--
-- KEYS     1 {x}:m:<id>:co   2 {x}:m:<id>:cl:<number>   3 {x}:talk
-- ARGV     1 number   2 address (20 bytes)   3 1 to like, 0 to remove the like
-- Returns  OK; COMMENT_NOT_FOUND, also when the comment was deleted; UNAVAILABLE for a like far above maxmemory (lib/memory)
-- Emits    nothing
-- Bound    one comment

local comments = require('lib.comments')
local memory = require('lib.memory')

local created, _, _, deleted = comments.load(KEYS[1], ARGV[1])
if not created or deleted then
  return 'COMMENT_NOT_FOUND'
end
if ARGV[3] == '1' and memory.is_exceeded() then
  return 'UNAVAILABLE'
end
redis.call(ARGV[3] == '1' and 'SADD' or 'SREM', KEYS[2], ARGV[2])
redis.call('INCR', KEYS[3])
return 'OK'
