#!lua flags=allow-oom
-- open_archive: notes the id of the archive of the exchange, if none is noted. From then on programs that do not know these traces
-- may not read the data any more, because they would book an archived order again.
--
-- KEYS     1 {x}:ar   2 {x}:layout
-- ARGV     1 id of the archive   2 the oldest layout whose programs know traces
-- Returns  the id of the archive that is noted, which may be another's
-- Emits    nothing
-- Bound    two hashes

local noted = redis.call('HGET', KEYS[1], 'id')
local oldest = tonumber(redis.call('HGET', KEYS[2], 'oldest') or '1')
if oldest < tonumber(ARGV[2]) then
  redis.call('HSET', KEYS[2], 'oldest', ARGV[2])
end
if not noted then
  noted = ARGV[1]
  redis.call('HSET', KEYS[1], 'id', noted, 'n', '0', 'sweep', '1')
end
return noted
