#!lua flags=allow-oom
-- close_intent: ends an intent whose nonce a final block has used. A match that is still SUBMITTED then did not run in any
-- attempt, and none can run any more: it is RETRYING. So the books must have the events of that block (observe_block) first.
--
-- KEYS     1 {x}:st   2 {x}:sl   3 {x}:su   4 {x}:sum   5 {x}:out   6 {x}:tl   7 {x}:ti   8 {x}:ck; the matches {x}:m:<id>:t
--          and the list of the market, which has the form of 2
-- ARGV     1 shard prefix `{x}:`   2 lane (20 bytes)   3 token of the lane's lease   4 nonce   5 number of the final block after
--          which the lane's nonce is higher
-- Returns  { code, ... }: OK names of the matches that are RETRYING now; LEASE when the token does not hold the lane; EARLY when
--          the books do not have that block yet: nothing changed
-- Emits    SETTLE for each match that is RETRYING
-- Bound    the matches of a block (src/extensions/chain/jobs/lane.ts)

local intents = require('lib.intents')
local outbox = require('lib.outbox')
local settlements = require('lib.settlements')

local shard, lane, nonce, now_ms = ARGV[1], ARGV[2], tonumber(ARGV[4]), outbox.now_ms()
local _, _, _, until_ms, holder = intents.lane(KEYS[6], lane)
if holder ~= ARGV[3] or now_ms >= until_ms then
  return { 'LEASE' }
end
if tonumber(redis.call('HGET', KEYS[8], 'final') or '-1') < tonumber(ARGV[5]) then
  return { 'EARLY' }
end
local first_ms, matches = intents.load(KEYS[7], lane, nonce)
local reply = { 'OK' }
if not first_ms then
  return reply
end
local records = intents.submitted(shard, matches)
redis.call('HDEL', KEYS[7], intents.field(lane, nonce))
for i = 1, #records, 2 do
  settlements.save(shard, records[i], records[i + 1], settlements.RETRYING, now_ms)
  reply[#reply + 1] = records[i]
end
return reply
