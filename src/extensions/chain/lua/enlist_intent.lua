#!lua
-- enlist_intent: writes down a signed transaction before it is sent: a new one under the lane's next nonce, or another attempt
-- under a nonce of the lane that no final block has used yet. Its matches are SUBMITTED from now on, with its hash. An attempt
-- keeps the matches of its intent, because an earlier attempt may still run. Repeating the call changes nothing.
--
-- KEYS     1 {x}:st   2 {x}:sl   3 {x}:su   4 {x}:sum   5 {x}:out   6 {x}:tl   7 {x}:ti   8 {x}:mode; the matches {x}:m:<id>:t
--          and the list of the market, which has the form of 2
-- ARGV     1 shard prefix `{x}:`   2 lane (20 bytes)   3 token of the lane's lease   4 nonce   5 hash of the transaction (32
--          bytes)   6 its bytes   7 the matches of a new one (lib/intents), empty for another attempt, `-` for one without any
--          that fills a gap: the block that had used the nonce was replaced
-- Returns  { code, ... }: OK; LEASE when the token does not hold the lane; STATE code when the lane does not run, HALTED, both
--          only for a new one; NONCE next when the nonce has no intent, is not the lane's next and fills no gap; TAKEN names of the
--          matches that are in another intent or over: nothing changed
-- Emits    SETTLE for each match
-- Bound    the matches of a block (src/extensions/chain/jobs/lane.ts)

local integer = require('lib.integer')
local intents = require('lib.intents')
local outbox = require('lib.outbox')
local settlements = require('lib.settlements')

local shard, lane, nonce, hash, matches = ARGV[1], ARGV[2], tonumber(ARGV[4]), ARGV[5], ARGV[7]
local now_ms = outbox.now_ms()
local next_nonce, state, changed_ms, until_ms, holder = intents.lane(KEYS[6], lane)
if holder ~= ARGV[3] or now_ms >= until_ms then
  return { 'LEASE' }
end
local first_ms, known, hashes, attempts = intents.load(KEYS[7], lane, nonce)
if first_ms and hashes:sub(-#hash) == hash then
  return { 'OK' }
end
local records, others
if first_ms then
  if attempts == intents.ATTEMPTS_MAX then
    return { 'NONCE', integer.text(next_nonce) }
  end
  matches, records = known, intents.submitted(shard, known)
else
  local is_gap = matches == intents.NO_MATCHES and nonce < next_nonce
  if nonce ~= next_nonce and not is_gap then
    return { 'NONCE', integer.text(next_nonce) }
  elseif state ~= intents.RUNNING then
    return { 'STATE', integer.text(state) }
  elseif intents.is_halted(KEYS[8]) then
    return { 'HALTED' }
  end
  matches = is_gap and '' or matches
  records, others = intents.sendable(shard, matches)
  if others then
    return { 'TAKEN', unpack(others) }
  end
  first_ms, hashes, next_nonce = now_ms, '', math.max(next_nonce, nonce + 1)
end
intents.save(KEYS[7], lane, nonce, first_ms, now_ms, matches, hashes .. hash, ARGV[6])
intents.save_lane(KEYS[6], lane, next_nonce, state, changed_ms, until_ms, holder)
for i = 1, #records, 2 do
  local record = records[i + 1]
  record[settlements.ATTEMPTS] = record[settlements.ATTEMPTS] + 1
  record[settlements.TRANSACTION] = hash
  settlements.save(shard, records[i], record, settlements.SUBMITTED, now_ms)
end
return { 'OK' }
