#!lua
-- continue_order: the next step of a submission that met as many makers as one script may (lib/booking). An order that is not between
-- two steps does not change, so repeating the command is safe. When the order may not be matched any more, its rest is cancelled with
-- reason MATCH_LIMIT.
--
-- KEYS     1 {x}:m:<id>   2 {x}:m:<id>:b   3 {x}:m:<id>:a   4 {x}:o   5 {x}:bal   6 {x}:u:<address>   7 {x}:out; and the same others
--          as place_order has
-- ARGV     1 to 3 as place_order had them
-- Returns  { BOOKED, record, fills }: the fills of this step, packed as in lib/trades; else { code, nowMs, ... }
--          REPLAYED  record, or '' without one                  there was no step
--          AGAIN                                                stale makers were expired or invalidated; run it again
-- Emits    ORDER, or TRADE when it matched; EXPIRE or CANCEL with AGAIN; CANCEL when it ended without a step
-- Bound    as place_order

local booking = require('lib.booking')
local request = require('lib.request')

return booking.continue(request.read())
