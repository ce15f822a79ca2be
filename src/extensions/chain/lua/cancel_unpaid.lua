#!lua flags=allow-oom
-- cancel_unpaid: cancels more orders of a wallet by whose fault a match failed, which would fail the same way. The call that
-- noted the failure has cancelled as many as one call may (lib/unfunded). While a market is HALTED its orders wait.
--
-- KEYS     1 {x}:u:<address>   2 {x}:o   3 {x}:bal   4 {x}:exp   5 {x}:out   6 {x}:up; and, by the records found, the books and token
--          accounts of their markets, all in this slot
-- ARGV     1 shard prefix `{x}:`   2 the member of 6
-- Returns  { cancelled, more }: more is 1 when others must follow
-- Emits    CANCEL for each market with cancelled orders
-- Bound    CANCEL_MAX orders (lib/unfunded)

local outbox = require('lib.outbox')
local unfunded = require('lib.unfunded')

local shard, noted, left = ARGV[1], ARGV[2], unfunded.left()
if redis.call('SISMEMBER', KEYS[6], noted) == 1 then
  unfunded.resume(shard, noted, left, outbox.now_ms())
end
return { left.cancelled, left.more and 1 or 0 }
