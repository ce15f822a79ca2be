#!lua flags=allow-oom
-- hold_lane: takes a free lane of the operator, renews the token's own, or gives it back. A lane that is new begins with the
-- chain's nonce. A running lane whose nonces were used elsewhere stops (AHEAD), a paused one when it is resumed: this store may
-- be an old copy, and the transactions that it signs now may contradict those that were sent after that copy.
--
-- KEYS     1 {x}:tl
-- ARGV     1 lane (20 bytes)   2 token   3 lifetime of the lease from now in milliseconds, 0 to give it back   4 the chain's
--          nonce of the lane's address, empty when it was not read
-- Returns  { 1, next nonce, state } when the token holds the lane now or gave it back; { 0 } when another one holds it, or when
--          the lane is new and the chain's nonce is not known: nothing changed
-- Emits    nothing
-- Bound    one lane

local integer = require('lib.integer')
local intents = require('lib.intents')
local outbox = require('lib.outbox')

local lane, token, life_ms, used = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local now_ms = outbox.now_ms()
local next_nonce, state, changed_ms, until_ms, holder = intents.lane(KEYS[1], lane)
if not next_nonce then
  if not used then
    return { 0 }
  end
  next_nonce, state, changed_ms = used, intents.RUNNING, now_ms
elseif holder ~= token and holder ~= '' and now_ms < until_ms then
  return { 0 }
end
if used and used > next_nonce and state == intents.RUNNING then
  state, changed_ms = intents.AHEAD, now_ms
end
intents.save_lane(KEYS[1], lane, next_nonce, state, changed_ms, now_ms + life_ms, life_ms > 0 and token or '')
return { 1, integer.text(next_nonce), state }
