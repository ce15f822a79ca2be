#!lua
-- replace_order: cancels a resting order of a wallet and books a new order of the same wallet in its market, both or neither,
-- when funds are on a chain. It is otherwise as the script of this name with paper funds.
--
-- KEYS     1 to 7 as place_order has them, for the new order; and, by the records found, the same others
-- ARGV     1 to 3 as place_order has them, for the new order   4 hash of the old order, 32 bytes
--          5... as place_order's 4
-- Returns  { BOOKED, record, fills, old record }. Else { code, nowMs, ... } as place_order of a chain's data, and
--          REPLAYED  record, old record or ''                   the new hash was booked before; nothing changed
--          ORDER_NOT_FOUND | ORDER_NOT_CANCELLABLE old record, before the codes about money and the book
-- Emits    CANCEL, then ORDER, or TRADE when it matched; EXPIRE or CANCEL with AGAIN
-- Bound    as place_order

local booking = require('lib.booking')

return booking.book(ARGV[4])
