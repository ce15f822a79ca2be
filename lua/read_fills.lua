#!lua flags=no-writes
-- read_fills: an order's record and a stretch of its chain of fills, newest first.
--
-- KEYS     1 {x}:o
-- ARGV     1 shard prefix `{x}:`   2 order hash (32 bytes)   3 milliseconds, 4 sequence and 5 index of the fill behind which
--          to go on, 0 0 0 to begin with the newest   6 how many fills at most
-- Returns  { record, whole, { tradeMs, sequence, index, fills }... }: an empty record when there is none; `whole` 0 when a
--          match that was named, by the caller or by the chain, is not one of this order; of each match the order's own
--          fills, packed as in lib/trades, and the index of the first of them
-- Bound    FILLS_MAX fills

local integer = require('lib.integer')
local order = require('lib.order')

local FILLS_MAX = 501
local HASH_BYTES, HEAD_BYTES, FILL_BYTES, COUNT_AT = 32, 36, 67, 35
-- Where the link to the maker's match before this one stands, from the end of a fill.
local LINK_BYTES = 12

local shard, hash, ms, sequence = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local below, left = tonumber(ARGV[5]), math.min(tonumber(ARGV[6]), FILLS_MAX)

-- The index of the order's fill in a match in which it was a maker. Only the last maker met may keep something, so in all
-- matches of an order but one it stands at the end.
local function maker_index(match)
  for i = struct.unpack('>I2', match, COUNT_AT) - 1, 0, -1 do
    local at = HEAD_BYTES + i * FILL_BYTES
    if match:sub(at + 1, at + HASH_BYTES) == hash then
      return i
    end
  end
end

-- The fills `from` up to, but without, `to` of a match, as if they were a match.
local function stretch(match, from, to)
  return match:sub(1, COUNT_AT - 1) .. struct.pack('>I2', to - from)
    .. match:sub(HEAD_BYTES + from * FILL_BYTES + 1, HEAD_BYTES + to * FILL_BYTES)
end

local packed = redis.call('HGET', KEYS[1], hash)
if not packed then
  return { '', 1 }
end
local record = order.unpack(packed, hash)
local stream = shard .. 'm:' .. record.market .. ':t'
if ms == 0 then
  ms, sequence, below = record.fill_ms, record.fill_sequence, math.huge
end
local reply = { packed, 1 }
while ms > 0 and left > 0 do
  local id = integer.text(ms) .. '-' .. integer.text(sequence)
  local entry = redis.call('XRANGE', stream, id, id)[1]
  local match = entry and entry[2][2] or ''
  local is_taker = match:sub(1, HASH_BYTES) == hash
  local own = not is_taker and match ~= '' and maker_index(match)
  if not (is_taker or own) then
    reply[2] = 0
    break
  end
  local from, to = own, own and own + 1
  if is_taker then
    to = math.min(struct.unpack('>I2', match, COUNT_AT), below)
    from = math.max(0, to - left)
  end
  if from < to and to <= below then
    left = left - (to - from)
    reply[#reply + 1] = { integer.text(ms), integer.text(sequence), from, stretch(match, from, to) }
  end
  below, ms = math.huge, 0
  if own then
    ms, sequence = struct.unpack('>I6I6', match, HEAD_BYTES + (own + 1) * FILL_BYTES - LINK_BYTES + 1)
  end
end
return reply
