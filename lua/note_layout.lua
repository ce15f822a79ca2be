#!lua flags=allow-oom
-- note_layout: raises the stored layout of the data to the caller's, if the caller may read the data and its layout is newer.
--
-- {x}:layout  hash: `layout`, the newest layout that a program has written; `oldest`, the oldest layout whose programs may still
--             read the data
--
-- KEYS     1 {x}:layout
-- ARGV     1 layout of the program   2 oldest layout whose programs may read what it writes
-- Returns  { layout, oldest } as they are now; { 1, 1 } for data older than these notes
-- Emits    nothing
-- Bound    one hash

local noted = redis.call('HMGET', KEYS[1], 'layout', 'oldest')
local layout, oldest = tonumber(noted[1] or 1), tonumber(noted[2] or 1)
local mine = tonumber(ARGV[1])
if mine < oldest then
  return { layout, oldest }
end
if not noted[1] or mine > layout then
  layout, oldest = math.max(mine, layout), math.max(tonumber(ARGV[2]), oldest)
  redis.call('HSET', KEYS[1], 'layout', string.format('%d', layout), 'oldest', string.format('%d', oldest))
end
return { layout, oldest }
