#!lua
-- replace_order: cancels a resting order of a wallet and books a new order of the same wallet in its market, both or neither.
-- The new order is booked as if the old one did not exist: it may use the old reserve and never meets the old order.
-- The two are separate commands, with two numbers and two entries of the outbox. Repeating a booked hash changes nothing.
--
-- KEYS     1 to 7 as place_order has them, for the new order; and, by the records found, the same others
-- ARGV     1 to 3 as place_order has them, for the new order   4 as place_order's, or ''   5 hash of the old order, 32 bytes
-- Returns  { BOOKED, record, fills, old record }: both records as they are now or, with `dryRun`, would be; fills packed as
--          in lib/trades. Else { code, nowMs, ... }
--          REPLAYED  record, old record or ''                   the new hash was booked before; nothing changed
--          AGAIN                                                stale makers were expired or invalidated; run it again
--          TRACED                                               the market has the trace of the new order: look it up in the archive
--          a refusal code and its detail, nothing changed: those of place_order, in the same order, and these two before the
--          codes about money and the book:
--          ORDER_NOT_FOUND                                      the old order is not this wallet's in this market
--          ORDER_NOT_CANCELLABLE old record                     the old order is final
-- Emits    CANCEL, then ORDER, or TRADE when it matched; EXPIRE or CANCEL with AGAIN
-- Bound    as place_order

local booking = require('lib.booking')
local request = require('lib.request')

return booking.replace(request.read(), ARGV[5])
