#!lua flags=allow-oom
-- renew_epoch: names the unbroken history of this data; a new name as soon as answered writes may be missing from it.
--
-- KEYS     1 {x}:epoch
-- ARGV     1 the name to take when a new one is due   2 1 when a Redis that dies may lose what it answered, else 0
-- Returns  { name, 1 when it is new }. A new one is due when there is none yet; when another run of Redis holds the data now
--          and the one before may have lost its latest writes; and when that run is a replica that took over
-- Emits    nothing
-- Bound    one hash

local server = redis.call('INFO', 'server')
local run = server:match('run_id:(%x+)')
local known = redis.call('HMGET', KEYS[1], 'name', 'run')
if known[1] and known[2] == run then
  return { known[1], 0 }
end
-- Known to a master that was a replica once, and was not since it started: what its master had not sent is gone.
local took_over = not redis.call('INFO', 'replication'):find('second_repl_offset:-1', 1, true)
local name = known[1]
if not name or ARGV[2] == '1' or took_over then
  name = ARGV[1]
end
redis.call('HSET', KEYS[1], 'name', name, 'run', run)
return { name, name == known[1] and 0 or 1 }
