-- The mode of the exchange. Each market has it in its state, because the scripts read it there.

local mode = {}

-- Sets the mode, a code as text, and the operator's message. Returns the number of markets that changed.
function mode.set(shard, mode_key, markets_key, notice_key, code, message)
  local wanted, changed = tonumber(code), 0
  local markets = redis.call('HKEYS', markets_key)
  for i = 1, #markets do
    local key = shard .. 'm:' .. markets[i]
    local state = redis.call('HGET', key, 's')
    -- lib/book: the status is the first byte of a packed state, the mode the second.
    if state and state:byte(2) ~= wanted then
      redis.call('HSET', key, 's', state:sub(1, 1) .. string.char(wanted) .. state:sub(3))
      changed = changed + 1
    end
  end
  redis.call('SET', mode_key, code)
  if message == '' then
    redis.call('DEL', notice_key)
  else
    redis.call('SET', notice_key, code .. message)
  end
  return changed
end

return mode
