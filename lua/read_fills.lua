#!lua flags=no-writes
-- read_fills: reads an order's record and a part of its chain of fills, newest first.
--
-- KEYS     1 {x}:o; and, by the order's record, its market's hash and matches {x}:m:<id>:t
-- ARGV     1 shard prefix `{x}:`   2 order hash (32 bytes)   3 milliseconds, 4 sequence and 5 index of the fill after which
--          to continue, 0 0 0 to begin with the newest   6 the most fills to return
-- Returns  { record, rest, { tradeMs, sequence, index, fills }... }: an empty record for an unknown order; `rest` NO_MATCH when a
--          match that the caller or the chain names is not a match of this order, the id of that match when it has left
--          (lib/archived_matches), else empty; of each match the order's own fills, packed as in lib/trades, and the index of the first
-- Bound    FILLS_MAX fills

local integer = require('lib.integer')
local archived_matches = require('lib.archived_matches')
local order = require('lib.order')

local FILLS_MAX = 501
local HASH_BYTES, HEAD_BYTES, FILL_BYTES, COUNT_AT = 32, 36, 67, 35
-- The offset, from the end of a fill, of the link to the maker's match before this one; and from the end of a match, of the link to
-- the taker's step before.
local LINK_BYTES = 12
local NO_MATCH = '-'

local shard, hash, ms, sequence = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local below, wanted = tonumber(ARGV[5]), math.min(tonumber(ARGV[6]), FILLS_MAX)

-- Returns the index of the order's fill in a match in which it was a maker. Only the last maker of a match can keep lots, so
-- in all matches of an order but one its fill is the last.
local function maker_index(match)
  for i = struct.unpack('>I2', match, COUNT_AT) - 1, 0, -1 do
    local at = HEAD_BYTES + i * FILL_BYTES
    if match:sub(at + 1, at + HASH_BYTES) == hash then
      return i
    end
  end
end

-- Returns the fills from `from` up to, but without, `to` of a match, packed as a match.
local function stretch(match, from, to)
  local behind = HEAD_BYTES + struct.unpack('>I2', match, COUNT_AT) * FILL_BYTES
  return match:sub(1, COUNT_AT - 1) .. struct.pack('>I2', to - from)
    .. match:sub(HEAD_BYTES + from * FILL_BYTES + 1, HEAD_BYTES + to * FILL_BYTES) .. match:sub(behind + 1)
end

-- Whether a match of a market that is not there has left.
local function has_left(market, at_ms, at_sequence)
  local packed = redis.call('HGET', shard .. 'm:' .. market, archived_matches.FIELD)
  if not packed then
    return false
  end
  local last_ms, last_sequence = struct.unpack(archived_matches.FORMAT, packed)
  return at_ms < last_ms or at_ms == last_ms and at_sequence <= last_sequence
end

local packed = redis.call('HGET', KEYS[1], hash)
if not packed then
  return { '', '' }
end
local record = order.unpack(packed, hash)
local stream = shard .. 'm:' .. record.market .. ':t'
if ms == 0 then
  ms, sequence, below = record.fill_ms, record.fill_sequence, math.huge
end
local reply = { packed, '' }
while ms > 0 and wanted > 0 do
  local id = integer.text(ms) .. '-' .. integer.text(sequence)
  local entry = redis.call('XRANGE', stream, id, id)[1]
  local match = entry and entry[2][2] or ''
  local is_taker = match:sub(1, HASH_BYTES) == hash
  local own = not is_taker and match ~= '' and maker_index(match)
  if not (is_taker or own) then
    reply[2] = match == '' and has_left(record.market, ms, sequence) and id or NO_MATCH
    break
  end
  local from, to = own, own and own + 1
  if is_taker then
    to = math.min(struct.unpack('>I2', match, COUNT_AT), below)
    from = math.max(0, to - wanted)
  end
  if from < to and to <= below then
    wanted = wanted - (to - from)
    reply[#reply + 1] = { integer.text(ms), integer.text(sequence), from, stretch(match, from, to) }
  end
  below, ms = math.huge, 0
  if own then
    ms, sequence = struct.unpack('>I6I6', match, HEAD_BYTES + (own + 1) * FILL_BYTES - LINK_BYTES + 1)
  elseif #match - HEAD_BYTES - struct.unpack('>I2', match, COUNT_AT) * FILL_BYTES >= LINK_BYTES then
    ms, sequence = struct.unpack('>I6I6', match, #match - LINK_BYTES + 1)
  end
end
return reply
