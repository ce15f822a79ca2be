#!lua flags=allow-oom
-- delete_comment: deletes the text and the likes of a comment: a wallet's own comment or, for an operator, any comment. Its
-- number and the answers to it stay. Repeating it changes nothing.
--
-- KEYS     1 {x}:m:<id>:co   2 {x}:m:<id>:cl:<number>   3 {x}:talk; and the index of the author's comments {x}:cw:<author>
-- ARGV     1 number   2 address (20 bytes), empty for an operator   3 shard prefix `{x}:`   4 market id
-- Returns  OK, COMMENT_NOT_FOUND, or FORBIDDEN when another wallet wrote the comment
-- Emits    nothing
-- Bound    one comment

local comments = require('lib.comments')

local number, address = ARGV[1], ARGV[2]

local created, parent, author, deleted = comments.load(KEYS[1], number)
if not created then
  return 'COMMENT_NOT_FOUND'
elseif address ~= '' and author ~= address then
  return 'FORBIDDEN'
elseif not deleted then
  comments.save(KEYS[1], number, created, parent, author, 1, '')
  comments.forget(ARGV[3] .. 'cw:' .. author, created, ARGV[4], number)
  redis.call('UNLINK', KEYS[2])
  redis.call('INCR', KEYS[3])
end
return 'OK'
