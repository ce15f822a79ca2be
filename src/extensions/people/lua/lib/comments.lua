-- The comments of a market, numbered from 1 in the order of their creation. A deleted comment keeps its number.
--
-- {x}:m:<id>:co           hash: number -> created I6 (ms), number of the answered comment I6 (0 for none), author c20,
--                         deleted B, text; src/extensions/people/store/comments.ts reads it
-- {x}:m:<id>:cl:<number>  set: the wallets that like the comment
-- {x}:cw:<address>        sorted set, all scores 0: the places of the wallet's latest OF_WALLET_MAX comments that are not deleted,
--                         each created I6 (ms), market c8, number I6

local integer = require('lib.integer')

local comments = {}

comments.HEAD = '>I6I6c20B'
comments.HEAD_BYTES = 33
local PLACE = '>I6c8I6'
local OF_WALLET_MAX = 1000
local AUTHOR_AT = 13

-- Returns created, parent, author, deleted, and the text; nil when no comment has this number.
function comments.load(key, number)
  local packed = redis.call('HGET', key, number)
  if not packed then
    return nil
  end
  local created, parent, author, deleted = struct.unpack(comments.HEAD, packed)
  return created, parent, author, deleted == 1, packed:sub(comments.HEAD_BYTES + 1)
end

function comments.save(key, number, created, parent, author, deleted, text)
  redis.call('HSET', key, number, struct.pack(comments.HEAD, created, parent, author, deleted) .. text)
end

-- Adds a comment to those of its author, whose oldest one makes room.
function comments.note(index, created, market, number)
  redis.call('ZADD', index, 0, struct.pack(PLACE, created, market, number))
  redis.call('ZREMRANGEBYRANK', index, 0, -OF_WALLET_MAX - 1)
end

function comments.forget(index, created, market, number)
  redis.call('ZREM', index, struct.pack(PLACE, created, market, number))
end

-- Returns the market and the number of a place.
function comments.at(place)
  local _, market, number = struct.unpack(PLACE, place)
  return market, number
end

-- The reply about a comment that exists: number, packed comment, likes, username, avatar URL, muted; a missing value is empty.
function comments.row(shard, market, number)
  local name = integer.text(number)
  local packed = redis.call('HGET', shard .. 'm:' .. market .. ':co', name)
  local likes = redis.call('SCARD', shard .. 'm:' .. market .. ':cl:' .. name)
  local profile = redis.call('HMGET', shard .. 'p:' .. packed:sub(AUTHOR_AT, comments.HEAD_BYTES - 1), 'u', 'a', 'm')
  return { number, packed, likes, profile[1] or '', profile[2] or '', tonumber(profile[3]) or 0 }
end

return comments
