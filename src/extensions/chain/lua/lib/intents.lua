-- The operator's transactions for the chain, written down before they are sent.
--
-- {x}:tl   hash: lane (the operator's address, 20 bytes) -> LANE, token of the process that holds it. A lane sends its
--          transactions under the nonces of one address, in order
-- {x}:ti   hash: lane, nonce I6 -> INTENT, the matches, the hash of each attempt (32 bytes), the bytes of the last one. A match
--          is the name of its record (lib/settlements) and the time of the match I6. It exists until a final block has used the
--          nonce, whichever of the attempts that was
-- A match is in at most one intent: its record is SUBMITTED exactly as long.

local book = require('lib.book')
local settlements = require('lib.settlements')

local intents = {}

-- next nonce, state, time of the state in milliseconds, end of the lease in milliseconds
local LANE = '>I6BI6I6'
-- time of the first and of the last attempt in milliseconds, number of matches, number of attempts
local INTENT = '>I6I6I2B'
local LANE_BYTES, INTENT_BYTES = 19, 15
local HASH_BYTES, NAME_BYTES, MATCH_BYTES = 32, 15, 21

-- src/extensions/chain/store/intents.ts holds the names. AHEAD: the chain has used nonces that this store does not know.
intents.RUNNING, intents.PAUSED, intents.AHEAD = 0, 1, 2
-- In place of the matches of a new intent that has none.
intents.NO_MATCHES = '-'
-- src/extensions/chain/contracts/transaction.ts raises the price at each attempt, so it reaches every limit before this number.
intents.ATTEMPTS_MAX = 255

-- Returns next nonce, state, its time, end of the lease, token; nil for an unknown lane.
function intents.lane(key, lane)
  local packed = redis.call('HGET', key, lane)
  if not packed then
    return nil
  end
  local next_nonce, state, changed_ms, until_ms = struct.unpack(LANE, packed)
  return next_nonce, state, changed_ms, until_ms, packed:sub(LANE_BYTES + 1)
end

function intents.save_lane(key, lane, next_nonce, state, changed_ms, until_ms, token)
  redis.call('HSET', key, lane, struct.pack(LANE, next_nonce, state, changed_ms, until_ms) .. token)
end

function intents.field(lane, nonce)
  return lane .. struct.pack('>I6', nonce)
end

-- Returns the time of the first attempt, the matches, the hashes of the attempts and their number; nil when there is no intent.
function intents.load(key, lane, nonce)
  local packed = redis.call('HGET', key, intents.field(lane, nonce))
  if not packed then
    return nil
  end
  local first_ms, _, matches, attempts = struct.unpack(INTENT, packed)
  local hashes = INTENT_BYTES + matches * MATCH_BYTES
  return first_ms, packed:sub(INTENT_BYTES + 1, hashes), packed:sub(hashes + 1, hashes + attempts * HASH_BYTES), attempts
end

function intents.save(key, lane, nonce, first_ms, now_ms, matches, hashes, bytes)
  redis.call('HSET', key, intents.field(lane, nonce),
    struct.pack(INTENT, first_ms, now_ms, #matches / MATCH_BYTES, #hashes / HASH_BYTES) .. matches .. hashes .. bytes)
end

-- The names of all matches that are in an intent, as a set.
function intents.names(key)
  local found, names = redis.call('HVALS', key), {}
  for i = 1, #found do
    local _, _, count = struct.unpack(INTENT, found[i])
    for at = INTENT_BYTES + 1, INTENT_BYTES + count * MATCH_BYTES, MATCH_BYTES do
      names[found[i]:sub(at, at + NAME_BYTES - 1)] = true
    end
  end
  return names
end

-- Returns the records of an intent's matches that are SUBMITTED, each with its name before it.
function intents.submitted(shard, matches)
  local found = {}
  for at = 1, #matches, MATCH_BYTES do
    local name, trade_ms = matches:sub(at, at + NAME_BYTES - 1), (struct.unpack('>I6', matches, at + NAME_BYTES))
    local record = settlements.load(shard, name, trade_ms, settlements.taker(shard, name, trade_ms))
    if record[settlements.STATUS] == settlements.SUBMITTED then
      found[#found + 1] = name
      found[#found + 1] = record
    end
  end
  return found
end

-- Returns the records of matches that an intent may take, each with its name before it; or nil and the names of the others.
function intents.sendable(shard, matches)
  local found, others = {}, {}
  for at = 1, #matches, MATCH_BYTES do
    local name, trade_ms = matches:sub(at, at + NAME_BYTES - 1), (struct.unpack('>I6', matches, at + NAME_BYTES))
    local taker = settlements.taker(shard, name, trade_ms)
    local record = settlements.load(shard, name, trade_ms, taker)
    local status = record[settlements.STATUS]
    if taker and record[settlements.BODY] ~= ''
      and (status == settlements.MATCHED or status == settlements.RETRYING) then
      found[#found + 1] = name
      found[#found + 1] = record
    else
      others[#others + 1] = name
    end
  end
  if others[1] then
    return nil, others
  end
  return found
end

-- Whether the exchange is HALTED: nothing more is signed then.
function intents.is_halted(mode_key)
  return tonumber(redis.call('GET', mode_key) or '0') == book.HALTED
end

return intents
