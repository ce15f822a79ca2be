#!lua
-- place_order: books one signed order when funds are on a chain, as the script of this name does with paper funds: all of it or
-- nothing, and only once for each order hash. No order takes a straight line, because the chain takes longer than any script.
--
-- KEYS     1 {x}:m:<id>   2 {x}:m:<id>:b   3 {x}:m:<id>:a   4 {x}:o   5 {x}:bal   6 {x}:u:<address>   7 {x}:out
--          and, as needed, those of lua/place_order.lua, {x}:ck, {x}:cap, {x}:xp, {x}:str and {x}:funds, all in this slot
-- ARGV     1 request, packed (lib/request, lib/booking)   2 order hash, 32 bytes   3 the submitter's part of the record's body
--          4... as lua/place_order.lua
-- Returns  { BOOKED, record, fills }, when it was booked, or with `dryRun` would have been. Else { code, nowMs, ... }
--          REPLAYED  record, ''                                 this hash was booked before; nothing changed
--          AGAIN                                                stale makers were expired or invalidated; run it again
--          GONE                                                 the market has the trace of this order: ask the archive for it
--          UNSEEN                                               read the wallet from the chain (observe_wallets), then run it again
--          a refusal code and its detail, nothing changed: those of lua/place_order.lua, with CANCEL_ONLY also while the chain
--          has no new final block, and
--          INVALID_EXPIRATION minimum | WALLET_SUSPENDED strikes, packed (lib/standing)
--          INSUFFICIENT_ALLOWANCE required available asset | OPEN_ORDERS_LIMIT limit
--          UNSETTLED_LIMIT limit unsettled resting settled growsAt required: resting is 1 when open orders are counted, 2 when
--                     limit is what counts of fresh funds and unsettled what is promised of them (lib/fresh; the funds are watched from
--                     now on), 3 when both are of the new wallets of the client's address; growsAt the
--          value of settled matches at which the limit grows, 0 for never, and required what this order counts for
-- Emits    ORDER, or TRADE when it matched; EXPIRE or CANCEL with AGAIN
-- Bound    as lua/place_order.lua

local booking = require('lib.booking')

return booking.book(nil)
