#!lua
-- add_comment: adds a comment to a market, once for each operation.
--
-- KEYS     1 {x}:m:<id>:co   2 {x}:op:<operation>   3 {x}:talk   4 {x}:p:<author>   5 {x}:cw:<author>
-- ARGV     1 author (20 bytes)   2 number of the comment it answers, 0 for none   3 text
--          4 milliseconds for which an operation is remembered; 0 for one that its caller did not name   5 market id
-- Returns  { code, number, replayed }: OK with the number of the comment, and 1 for an operation seen before;
--          IDEMPOTENCY_KEY_REUSED when it was seen with another text or parent; COMMENT_NOT_FOUND when the comment to answer does
--          not exist or was deleted; FORBIDDEN for a muted wallet
-- Emits    nothing
-- Bound    one comment

local comments = require('lib.comments')
local integer = require('lib.integer')
local outbox = require('lib.outbox')

local author, parent, text = ARGV[1], tonumber(ARGV[2]), ARGV[3]

local digest = redis.sha1hex(ARGV[2] .. ' ' .. text)
local is_named = ARGV[4] ~= '0'
local done = is_named and redis.call('GET', KEYS[2])
if done then
  local made, of = done:match('^(%d+) (%x+)$')
  if of ~= digest then
    return { 'IDEMPOTENCY_KEY_REUSED' }
  end
  return { 'OK', made, 1 }
end
if redis.call('HGET', KEYS[4], 'm') then
  return { 'FORBIDDEN' }
end
if parent > 0 then
  local created, _, _, deleted = comments.load(KEYS[1], ARGV[2])
  if not created or deleted then
    return { 'COMMENT_NOT_FOUND' }
  end
end
local number = integer.text(redis.call('HLEN', KEYS[1]) + 1)
if is_named then
  redis.call('SET', KEYS[2], number .. ' ' .. digest, 'PX', ARGV[4])
end
local now = outbox.now_ms()
comments.save(KEYS[1], number, now, parent, author, 0, text)
comments.note(KEYS[5], now, ARGV[5], number)
redis.call('INCR', KEYS[3])
return { 'OK', number }
