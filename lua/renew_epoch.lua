#!lua flags=allow-oom
-- renew_epoch: names the unbroken history of this data. It takes a new name when acknowledged writes may be missing.
--
-- {x}:epoch   hash: `name`; `since`: when it was taken, milliseconds; `run` and `stream`: the Redis that held the data at the last
--             call (lib/history.lua); `copied`: exists once the data had a replica, or was one; `first`: exists while the first
--             name is in use; `lost`: when a process noticed that all data was gone, milliseconds, until an operator accepts it
--
-- KEYS     1 {x}:epoch   2 {x}:mk   3 {x}:out
-- ARGV     1 the new name, if one is needed   2 1 when a Redis that crashes may lose acknowledged writes; 0 when it may not; 2
--          when no failover to a replica may, either
--          3 the name that the caller knows, empty for none   4 the latest outbox entry that the caller saw in that history, 0-0
--          for none
-- Returns  { name, 1 when it is the first name of this data, else 0, `since`, `lost` or 0, the latest entry of the outbox }.
--          The name changes in four cases: there is none yet; another run of Redis holds the data, and the run before may have lost
--          its latest writes or may have been another copy of the data; the same run was a replica of another Redis in between,
--          whose data it now has; the entry that the caller saw is not there any more
-- Emits    nothing
-- Bound    one hash, one entry of a stream

local history = require('lib.history')
local outbox = require('lib.outbox')

local NONE = '0-0'

local function is_before(a, b)
  local a_ms, a_index = a:match('(%d+)-(%d+)')
  local b_ms, b_index = b:match('(%d+)-(%d+)')
  if a_ms ~= b_ms then
    return tonumber(a_ms) < tonumber(b_ms)
  end
  return tonumber(a_index) < tonumber(b_index)
end

-- Whether an entry was lost. It is younger than the first one that trimming has left, and it is not there.
local function is_missing(id, last)
  if id == NONE then
    return false
  end
  if is_before(last, id) then
    return true
  end
  local first = redis.call('XRANGE', KEYS[3], '-', '+', 'COUNT', 1)[1]
  return first and not is_before(id, first[1]) and #redis.call('XRANGE', KEYS[3], id, id) == 0
end

local run, stream, replication = history.holder()
local known = redis.call('HMGET', KEYS[1], 'name', 'run', 'stream', 'copied', 'first', 'since', 'lost')
local name, is_first, since, lost = known[1], known[5], known[6], known[7]
local caller_name, seen = ARGV[3], ARGV[4]
local _, _, last = outbox.extent(KEYS[3])
local is_empty = redis.call('EXISTS', KEYS[2]) == 0

-- Recognizes a master that was a replica since it started: it misses the writes that its master had not sent.
local took_over = not replication:find('second_repl_offset:-1', 1, true)
-- Redis keeps the backlog of its replicas for an hour after the last of them: this also finds a replica that has left.
local has_copies = took_over or not replication:find('connected_slaves:0', 1, true)
  or replication:find('repl_backlog_active:1', 1, true)
if has_copies and not known[4] then
  redis.call('HSET', KEYS[1], 'copied', '1')
end

local is_broken = false
-- A replica that takes over has all that was acknowledged; an entry that the caller saw shows when it has not.
local is_uncertain = name and ARGV[2] ~= '2'
if is_uncertain and known[2] ~= run then
  -- With copies of the data, a restart cannot find out which copy took the writes, because a restarted master forgets its promotion.
  is_broken = has_copies or known[4] or ARGV[2] == '1'
elseif is_uncertain and known[3] ~= stream then
  -- A replica of a master that never answered continues its own stream under another name, and knows the name before.
  is_broken = took_over and known[3] and replication:match('master_replid2:(%x+)') ~= known[3]
end
-- An append-only file that lost its end has the same name, and a restart alone does not change it.
if name and name == caller_name and is_missing(seen, last) then
  is_broken = true
end

local is_others = caller_name ~= '' and caller_name ~= name
-- Data that begins now, or that another process saw begin, and the caller has seen commands of an earlier history.
if is_others and seen ~= NONE and (not name and is_empty or name and is_first) then
  lost = tostring(outbox.now_ms())
  redis.call('HSET', KEYS[1], 'lost', lost)
end
if not name and caller_name == '' and is_empty then
  is_first = '1'
  redis.call('HSET', KEYS[1], 'first', is_first)
elseif is_first and (is_broken or is_others) then
  is_first = false
  redis.call('HDEL', KEYS[1], 'first')
end
if not name or is_broken then
  name = ARGV[1]
  since = tostring(outbox.now_ms())
  redis.call('HSET', KEYS[1], 'since', since)
end
if name ~= known[1] or run ~= known[2] or stream ~= known[3] then
  redis.call('HSET', KEYS[1], 'name', name, 'run', run, 'stream', stream)
end
return { name, is_first and 1 or 0, tonumber(since or '0'), tonumber(lost or '0'), last }
