#!lua flags=allow-oom
-- renew_epoch: names the unbroken history of this data; a new name as soon as answered writes may be missing from it.
--
-- KEYS     1 {x}:epoch
-- ARGV     1 the name to take when a new one is due   2 1 when a Redis that dies may lose what it answered, else 0
-- Returns  { name, 1 when it is new }. A new one is due when there is none yet; when another run of Redis holds the data now
--          and the one before may have lost its latest writes; and when that run is a replica that took over, or the
--          same one was a replica of another in between, whose data it then has
-- Emits    nothing
-- Bound    one hash

local replication = redis.call('INFO', 'replication')
local run = redis.call('INFO', 'server'):match('run_id:(%x+)')
-- Redis' own name of what its replicas are sent.
local stream = replication:match('master_replid:(%x+)') or ''
local known = redis.call('HMGET', KEYS[1], 'name', 'run', 'stream')
if known[1] and known[2] == run and known[3] == stream then
  return { known[1], 0 }
end
-- Known to a master that was a replica once, and was not since it started: what its master had not sent is gone.
local took_over = not replication:find('second_repl_offset:-1', 1, true)
local is_broken
if known[2] == run then
  -- A replica of nobody who answered continues its own stream under another name, and knows the one before.
  is_broken = took_over and known[3] and replication:match('master_replid2:(%x+)') ~= known[3]
else
  is_broken = took_over or ARGV[2] == '1'
end
local name = known[1]
if not name or is_broken then
  name = ARGV[1]
end
redis.call('HSET', KEYS[1], 'name', name, 'run', run, 'stream', stream)
return { name, name == known[1] and 0 or 1 }
