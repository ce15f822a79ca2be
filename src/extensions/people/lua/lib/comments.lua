-- The comments of a market, numbered from 1 in the order of their creation. A deleted comment keeps its number.
--
-- {x}:m:<id>:co           hash: number -> created I6 (ms), number of the answered comment I6 (0 for none), author c20,
--                         deleted B, text; src/extensions/people/store/comments.ts reads it
-- {x}:m:<id>:cl:<number>  set: the wallets that like the comment

local comments = {}

comments.HEAD = '>I6I6c20B'
comments.HEAD_BYTES = 33

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

return comments
