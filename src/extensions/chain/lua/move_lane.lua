#!lua flags=allow-oom
-- move_lane: pauses a lane of the operator, lets it run again, or adopts the chain's nonce after it was AHEAD.
--
-- KEYS     1 {x}:tl
-- ARGV     1 lane (20 bytes)   2 code of the state that it must have   3 code of the new state   4 its next nonce, empty to keep
--          it; it never falls
-- Returns  1; 0 when the lane is unknown or has another state: nothing changed
-- Emits    nothing
-- Bound    one lane

local intents = require('lib.intents')
local outbox = require('lib.outbox')

local next_nonce, state, _, until_ms, token = intents.lane(KEYS[1], ARGV[1])
if state ~= tonumber(ARGV[2]) or not state then
  return 0
end
intents.save_lane(KEYS[1], ARGV[1], math.max(next_nonce, tonumber(ARGV[4]) or 0), tonumber(ARGV[3]), outbox.now_ms(),
  until_ms, token)
return 1
