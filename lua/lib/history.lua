-- The Redis that holds the data, by its own name. A script that was read for on one of them and writes on another may
-- write what never was.

local history = {}

-- { id of the run, Redis' own name of what its replicas are sent, all it says of its replication }
function history.holder()
  local replication = redis.call('INFO', 'replication')
  local run = redis.call('INFO', 'server'):match('run_id:(%x+)')
  return run, replication:match('master_replid:(%x+)') or '', replication
end

-- One word for the same: another one says that writes may lie between which this Redis never had.
function history.name()
  local run, stream = history.holder()
  return run .. ':' .. stream
end

return history
