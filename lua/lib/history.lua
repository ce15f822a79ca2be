-- Names the run of the Redis that holds the data. A process that reads from one run and writes to another could store data that
-- never existed, so the script that writes compares the names.

local history = {}

-- { id of the run, Redis' name of its replication stream, everything that INFO replication says }
function history.holder()
  local replication = redis.call('INFO', 'replication')
  local run = redis.call('INFO', 'server'):match('run_id:(%x+)')
  return run, replication:match('master_replid:(%x+)') or '', replication
end

-- Both names in one word. A change of the word means that there may be writes between which this Redis never received.
function history.name()
  local run, stream = history.holder()
  return run .. ':' .. stream
end

return history
