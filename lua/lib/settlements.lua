-- The settlement records: the progress of a match's settlement, one record for each 50 makers of the match.
--
-- {x}:st        hash: name -> HEAD, transaction hash, body; name = market c8, sequence of the match I6, part B
-- {x}:sl        stream: the names, field `n`, in the order in which their records were first written
-- {x}:m:<id>:sl the same for one market, under the same entry ids
-- {x}:su        sorted set, scores 0: entry id (ms I6, index I4) + name of every record that is not CONFIRMED; with funds on a chain
--               nor FAILED, because that is final there
-- {x}:sum       hash: `failed`, how often a record became FAILED; on a chain also `failed:<reason>` (lib/finality)
-- src/store/records/settlement.ts packs the body; it is empty while nothing could be built. It begins with the number of
-- makers I2, the taker's hash and the makers' hashes.

local outbox = require('lib.outbox')
local trades = require('lib.trades')

local settlements = {}

-- status, attempts, updatedMs, tradeMs, entry id ms and index, length of the transaction hash
local HEAD = '>BI2I6I6I6I4B'
local HASH_BYTES, COUNT_BYTES, ATTEMPTS_MAX = 32, 2, 65535
settlements.HEAD_BYTES = 26

-- src/exchange/status.ts holds the names.
settlements.MATCHED, settlements.SUBMITTED, settlements.CONFIRMED = 0, 1, 2
settlements.RETRYING, settlements.FAILED = 3, 4

-- The positions of the members in an unpacked record.
settlements.STATUS, settlements.ATTEMPTS, settlements.UPDATED, settlements.TRADE_MS = 1, 2, 3, 4
settlements.LIST_MS, settlements.LIST_INDEX, settlements.TRANSACTION, settlements.BODY = 5, 6, 7, 8

-- Returns the taker of the match that a record belongs to; nil when the match does not exist. A caller may have read the match
-- before a failover that lost it.
function settlements.taker(shard, name, trade_ms)
  local id = trades.id(trade_ms, (struct.unpack('>I6', name, 9)))
  local entry = redis.call('XRANGE', shard .. 'm:' .. name:sub(1, 8) .. ':t', id, id)[1]
  return entry and entry[2][2]:sub(1, HASH_BYTES)
end

-- Returns the record of a name, or a new record that is not stored yet (LIST_MS 0). If a lost match had the same number, its
-- record starts again and keeps its place in the list.
function settlements.load(shard, name, trade_ms, taker)
  local packed = redis.call('HGET', shard .. 'st', name)
  if not packed then
    return { settlements.MATCHED, 0, 0, trade_ms, 0, 0, '', '' }
  end
  local status, attempts, updated, matched, list_ms, list_index, length = struct.unpack(HEAD, packed)
  local body = packed:sub(settlements.HEAD_BYTES + length + 1)
  if matched ~= trade_ms or body ~= '' and settlements.taker_in(body) ~= taker then
    return { settlements.MATCHED, 0, 0, trade_ms, list_ms, list_index, '', '' }
  end
  return { status, attempts, updated, matched, list_ms, list_index, packed:sub(settlements.HEAD_BYTES + 1,
    settlements.HEAD_BYTES + length), body }
end

-- Returns the stored record of a name; nil without one.
function settlements.find(shard, name)
  local packed = redis.call('HGET', shard .. 'st', name)
  if not packed then
    return nil
  end
  local status, attempts, updated, matched, list_ms, list_index, length = struct.unpack(HEAD, packed)
  return { status, attempts, updated, matched, list_ms, list_index, packed:sub(settlements.HEAD_BYTES + 1,
    settlements.HEAD_BYTES + length), packed:sub(settlements.HEAD_BYTES + length + 1) }
end

-- Returns the taker that a body names.
function settlements.taker_in(body)
  return body:sub(COUNT_BYTES + 1, COUNT_BYTES + HASH_BYTES)
end

-- Returns the entry id of a record in the lists, from its head.
function settlements.list_id(head)
  local _, _, _, _, ms, index = struct.unpack(HEAD, head)
  return string.format('%d-%d', ms, index)
end

local function enlist(shard, name, record)
  local id = redis.call('XADD', shard .. 'sl', '*', 'n', name)
  redis.call('XADD', shard .. 'm:' .. name:sub(1, 8) .. ':sl', id, 'n', name)
  local ms, index = id:match('(%d+)-(%d+)')
  record[settlements.LIST_MS], record[settlements.LIST_INDEX] = tonumber(ms), tonumber(index)
end

-- Returns the hashes of the orders that a body names, the taker's first, back to back.
function settlements.hashes_in(body)
  if body == '' then
    return ''
  end
  return body:sub(COUNT_BYTES + 1, COUNT_BYTES + HASH_BYTES * (struct.unpack('>I2', body) + 1))
end

-- Stores a changed record under its new status and adds an outbox entry with the match's sequence and time.
function settlements.save(shard, name, record, status, now_ms)
  local fresh, before = record[settlements.LIST_MS] == 0, record[settlements.STATUS]
  if fresh then
    enlist(shard, name, record)
  end
  record[settlements.STATUS], record[settlements.UPDATED] = status, now_ms
  record[settlements.ATTEMPTS] = math.min(record[settlements.ATTEMPTS], ATTEMPTS_MAX)
  local transaction, body = record[settlements.TRANSACTION], record[settlements.BODY]
  redis.call('HSET', shard .. 'st', name, struct.pack(HEAD, status, record[settlements.ATTEMPTS], now_ms,
    record[settlements.TRADE_MS], record[settlements.LIST_MS], record[settlements.LIST_INDEX], #transaction)
    .. transaction .. body)
  local open = struct.pack('>I6I4', record[settlements.LIST_MS], record[settlements.LIST_INDEX]) .. name
  if status ~= settlements.CONFIRMED then
    redis.call('ZADD', shard .. 'su', '0', open)
  elseif not fresh then
    redis.call('ZREM', shard .. 'su', open)
  end
  if status == settlements.FAILED and (fresh or before ~= status) then
    redis.call('HINCRBY', shard .. 'sum', 'failed', '1')
  end
  local sequence = struct.unpack('>I6', name, 9)
  outbox.write(shard, outbox.SETTLE, name:sub(1, 8), sequence, now_ms, record[settlements.TRADE_MS], '', 0,
    settlements.hashes_in(body), '')
end

return settlements
