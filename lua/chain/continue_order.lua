#!lua
-- continue_order: the next step of a submission that met as many makers as one script may (lib/steps), when funds are on a chain. It
-- is otherwise as the script of this name with paper funds.
--
-- KEYS     1 to 7 as place_order has them; and the same others
-- ARGV     1 to 3 as place_order had them
-- Returns  { BOOKED, record, fills }. Else { code, nowMs, ... }: REPLAYED record; AGAIN
-- Emits    ORDER, or TRADE when it matched; EXPIRE or CANCEL with AGAIN; CANCEL when it ended without a step
-- Bound    as place_order

local caps = require('lib.caps')
local cursor = require('lib.cursor')
local ledger = require('lib.ledger')
local steps = require('lib.steps')

return steps.continue(function(q, a)
  return not cursor.is_late(q.shard, q.now_ms) and caps.free(q.shard, a, 1, q.market, ledger.assets_of(q.side, q.outcome), true)
end)
